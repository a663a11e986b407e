// SPDX-License-Identifier: Apache-2.0
/*
 * A node S that all its neighbours have given up (R12): when may a flow of neighbour 0 that led through S go on by another
 * way?  S itself can't say that nothing is left in it, for it may be dead; or it is only slow, holds the flow's frame,
 * and sends it on in a later session, unless its neighbours let it have none while the frame may live.
 *
 *   NB      neighbours of S, 2 or 3
 *   ENDS    session ends in all             BEGINS  sessions begun again in all
 *   HOST    1: the flow is for a host of S itself, where frames of a new session could overtake the old one
 *   REACH   1: violated as soon as the flow may go on, to show that it may
 *
 * Neighbour 0 sends one frame through S, in any of its sessions, and a second one when it may.  Each neighbour tells in a
 * record whether its link to S is up, how many sessions have ended there, and, once it keeps S out, which ends of all
 * neighbours it had seen then.  A record reaches another neighbour after any time, or a later one does instead.  Sessions
 * begin at both ends at once (link_session.pml), and end at either end at any time.  A life is a condition, not a clock: what
 * a promise ends with is that a frame older than it exists no more.
 *
 * README.md says what the model taught.
 */
#ifndef NB
#define NB 3
#endif
#ifndef ENDS
#define ENDS 4
#endif
#ifndef BEGINS
#define BEGINS 2
#endif
#ifndef HOST
#define HOST 0
#endif
#ifndef REACH
#define REACH 0
#endif

/* Where the first frame is. */
#define NOT_SENT 0
#define TO_S     1
#define IN_S     2
#define FROM_S   3
#define BEYOND   4                      /* at a neighbour that has it from S */
#define GONE     5                      /* arrived, or dead */

byte session[3] = { 1, 1, 1 };          /* of each neighbour with S, at the neighbour; 0: none */
byte at_s[3] = { 1, 1, 1 };             /* the last one that S has begun, for it may not know of the end */
byte ended[3];                          /* sessions that have ended at the neighbour */
byte ends, begins;

bool kept_out[3];                       /* the neighbour begins no session with S */
bool younger[3];                        /* the frame was sent only after the neighbour had begun to keep S out */
bool promised[3];                       /* not said yet, perhaps */
byte promised_seen[9];                  /* ends that the neighbour had seen then, by neighbour */

/* Records, by whose they are; and as neighbours know them, by neighbour and whose. */
bool says_up[3] = { true, true, true };
byte says_ended[3];
bool says_kept_out[3];
byte says_seen[9];
bool heard_up[9] = { true, true, true, true, true, true, true, true, true };
byte heard_ended[9];
bool heard_kept_out[3];                 /* of the others only what neighbour 0 knows matters */
byte heard_seen[9];

byte place;                             /* of the first frame */
byte tag;                               /* the session in which it is on a link */
byte neighbour;                         /* FROM_S, BEYOND */
byte sent_in;                           /* session of neighbour 0 */
bool waits;                             /* that session is over */
byte own_end;                           /* ... the number of its end, at neighbour 0 */
bool goes_on, second;                   /* the flow may; its second frame has arrived */

hidden byte j;

#define KNOWN(x, y)  heard_ended[3 * x + y]
#define ALL_GIVEN_UP(x) (!heard_up[3 * x] && !heard_up[3 * x + 1] && (NB == 2 || !heard_up[3 * x + 2]))
#define SEEN_ALL(seen, at, x) (seen[at] == KNOWN(x, 0) && seen[at + 1] == KNOWN(x, 1) && seen[at + 2] == KNOWN(x, 2))
#define KEEPS_OUT(y) (y >= NB || (heard_kept_out[y] && SEEN_ALL(heard_seen, 3 * y, 0)))
#define SETTLED(x)   !(place == BEYOND && neighbour == x)
#define SEEKS        (place != GONE)      /* nothing can happen to the frame any more */
#define OWN_END_SEEN (KNOWN(0, 0) >= own_end)

inline hear(x, y) {
    heard_up[3 * x + y] = says_up[y];
    heard_ended[3 * x + y] = says_ended[y];
    if
    :: x == 0 ->
        heard_kept_out[y] = says_kept_out[y];
        for (j : 0 .. 2) { heard_seen[3 * y + j] = says_seen[3 * y + j] }
    :: else
    fi
}

inline say(x) {
    says_up[x] = session[x] != 0;
    says_ended[x] = ended[x];
    heard_up[4 * x] = says_up[x];
    heard_ended[4 * x] = says_ended[x];
    says_kept_out[x] = promised[x] && SEEN_ALL(promised_seen, 3 * x, x);
    for (j : 0 .. 2) { says_seen[3 * x + j] = promised_seen[3 * x + j] }; j = 0
    hear(x, x)
}

inline promise(x) {
    kept_out[x] = true;
    younger[x] = false;
    promised[x] = true;
    for (j : 0 .. 2) { promised_seen[3 * x + j] = KNOWN(x, j) }; j = 0
}

inline end(x) {
    ends++;
    ended[x]++;
    if
    :: x == 0 && session[0] == sent_in && place != NOT_SENT -> waits = true; own_end = ended[0]
    :: else
    fi;
    session[x] = 0
}

inline begin(x) {
    begins++;
    at_s[x]++;
    session[x] = at_s[x];
    promised[x] = false;
}

inline arrive() {
    assert(!second);
    place = GONE
}

proctype Neighbour(byte me) {
endless:
    do
    :: d_step { SEEKS && session[me] != 0 && ends < ENDS -> end(me) }
    :: d_step { SEEKS && session[me] == 0 && begins < BEGINS && !kept_out[me] -> begin(me) }
    :: d_step { SEEKS && says_ended[me] != ended[me] -> says_ended[me] = ended[me]; heard_ended[4 * me] = ended[me] }
    :: d_step { SEEKS -> say(me) }
    :: d_step { SEEKS -> hear(me, ((me + 1) % NB)) }
    :: d_step { SEEKS -> hear(me, ((me + NB - 1) % NB)) }
    :: d_step { SEEKS && session[me] == 0 && SETTLED(me) && ALL_GIVEN_UP(me) -> promise(me) }
    :: d_step { kept_out[me] && (place == NOT_SENT || younger[me]) -> kept_out[me] = false }
    :: d_step { place == FROM_S && neighbour == me -> /* of another session it is refused */
        place = (session[me] == tag -> BEYOND : GONE) }
    :: d_step { place == BEYOND && neighbour == me -> arrive() }
    od
}

proctype Source() {
endless:
    do
    :: d_step { place == NOT_SENT && session[0] != 0 ->
        place = TO_S;
        tag = session[0];
        sent_in = session[0];
        for (j : 0 .. 2) { younger[j] = kept_out[j] }; j = 0 }
    :: d_step { SEEKS && waits && !goes_on && KEEPS_OUT(0) && KEEPS_OUT(1) && KEEPS_OUT(2) && OWN_END_SEEN ->
        assert(!REACH);
        goes_on = true }
    :: d_step { SEEKS && goes_on && !second && (!HOST || session[0] != 0) -> second = true }
    od
}

proctype S() {
endless:
    do
    :: d_step { place == TO_S -> place = (at_s[0] == tag -> IN_S : GONE) }
    :: d_step { place == IN_S -> place = FROM_S; neighbour = 1; tag = at_s[1] }
    :: d_step { place == IN_S && NB == 3 -> place = FROM_S; neighbour = 2; tag = at_s[2] }
    :: d_step { place == IN_S && HOST -> arrive() }
    :: d_step { place != NOT_SENT && place != GONE -> place = GONE }
    od
}

init {
    atomic {
        run Neighbour(0);
        run Neighbour(1);
        if
        :: NB == 3 -> run Neighbour(2)
        :: else
        fi;
        run Source(); run S()
    }
}
