// SPDX-License-Identifier: Apache-2.0
/*
 * The three-way echo by which the two ends of a link agree on a session (K1).  flow_channel.pml takes its result
 * for granted.  A hello carries the sender's nonce and an echo of the nonce it answers (0: none).  Hellos stand
 * outside the sequence channels, so one may be lost, or arrive arbitrarily late.
 *
 *   RESTARTS  how often an end forgets everything      LOSS  hellos lost
 *   LATE      hellos held back for any time            TWICE how often such a hello arrives once more
 *   NARROW    how often the way towards end 0 may change between passing all hellos and short ones alone; it starts so
 *
 * Long hellos, as long as the link's longest frame, make sessions; short ones feed the dead timer of the one that runs.
 * Without NARROW all pass, and a short one only repeats what the long one before it said: they are left out.
 *
 * README.md says which rules the text of K1 leaves open and this model had to find.
 */
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef LOSS
#define LOSS 1
#endif
#ifndef LATE
#define LATE 1
#endif
#ifndef TWICE
#define TWICE 1
#endif
#ifndef NARROW
#define NARROW 0
#endif
#define DRAWS 60                        /* more nonces than any run of the protocol draws: the number is bounded */
#define DEAD  8                         /* hellos that are not of the running session, in a row */

chan hello[2] = [2] of { byte, byte };  /* towards end 0 and end 1: nonce, echo */

byte mine[2];                           /* own nonce: of the running session, or offered while there is none */
byte theirs[2];                         /* the neighbour's: of the running session, or last heard */
bool up[2];
byte offer[2];                          /* up: a nonce drawn for a neighbour that may have restarted, ... */
byte offer_to[2];                       /* ... and the nonce of that neighbour */

byte strange[2];                        /* hellos since the last one of the running session: the dead timer */

bool narrow = (NARROW > 0);             /* towards end 0 */
byte changes;
byte short_hellos[2];                   /* of the running session, since the last long one: the other dead timer */

byte drawn, restarts, losses, lates, copies;
byte late_nonce, late_echo, late_to;
hidden byte nonce, echo;

#define ME   _pid
#define PEER (1 - _pid)
#define SAME_SESSION (up[0] && up[1] && mine[0] == theirs[1] && mine[1] == theirs[0])

inline draw(x) {
    drawn++;
    assert(drawn < DRAWS);
    x = drawn
}

inline start(e) {
    draw(mine[e]);
    theirs[e] = 0;
    up[e] = false;
    offer[e] = 0;
    offer_to[e] = 0;
    strange[e] = 0;
    short_hellos[e] = 0
}

/* What echoes neither nothing nor the present nonce was meant for an earlier life of this end. */
#define MATCHED_ECHO (echo == 0 || echo == mine[ME])
/* One offer for one nonce: drawing again for each hello would let the two ends chase each other. */
#define CANDIDATE_KEPT (offer_to[ME] == nonce)

/* An answer is long: on a narrow way it is lost. No room: the next hello will be answered. */
inline answer(n, e) {
    if
    :: nfull(hello[PEER]) && !(narrow && PEER == 0) -> hello[PEER]!n,e
    :: full(hello[PEER]) || (narrow && PEER == 0)
    fi
}

/* A short hello of end p arrives at end e. */
inline hear_short(e, p) {
    if
    :: up[e] && mine[p] == theirs[e] && theirs[p] == mine[e] ->
        strange[e] = 0;
        short_hellos[e]++;
        if
        :: short_hellos[e] == DEAD -> start(e)
        :: else
        fi
    :: up[e] && !(mine[p] == theirs[e] && theirs[p] == mine[e]) ->
        strange[e]++;
        if
        :: strange[e] == DEAD -> start(e)
        :: else
        fi
    :: !up[e] && theirs[e] != 0 ->      /* what it echoes keeps the other end's session alive: not for ever */
        short_hellos[e]++;
        if
        :: short_hellos[e] == DEAD -> short_hellos[e] = 0; theirs[e] = 0
        :: else
        fi
    :: else
    fi
}

active [2] proctype End() {
    d_step { start(ME) }
end:
    do
    :: atomic { hello[ME]?nonce,echo ->
        if
        :: !up[ME] && echo == mine[ME] ->               /* it answers what this end offers */
            theirs[ME] = nonce;
            up[ME] = true;
            answer(mine[ME], nonce)
        :: !up[ME] && echo != mine[ME] ->               /* even if it echoes an earlier life: learn its nonce */
            theirs[ME] = nonce;
            short_hellos[ME] = 0;
            answer(mine[ME], nonce)
        :: up[ME] && nonce == offer_to[ME] && echo == offer[ME] ->
            assert(!SAME_SESSION);                      /* a late hello ends nothing */
            mine[ME] = offer[ME];
            theirs[ME] = nonce;
            offer[ME] = 0;
            offer_to[ME] = 0;
            strange[ME] = 0;
            short_hellos[ME] = 0
        :: up[ME] && nonce != theirs[ME] && !(nonce == offer_to[ME] && echo == offer[ME]) && MATCHED_ECHO ->
            if
            :: CANDIDATE_KEPT
            :: !CANDIDATE_KEPT -> draw(offer[ME]); offer_to[ME] = nonce
            fi;
            answer(offer[ME], nonce)
        :: else                                         /* of this session, or an answer to nothing said here */
        fi;
        if
        :: up[ME] && nonce == theirs[ME] && echo == mine[ME] -> strange[ME] = 0; short_hellos[ME] = 0
        :: up[ME] && (nonce != theirs[ME] || echo != mine[ME]) ->
            strange[ME]++;
            if
            :: strange[ME] == DEAD ->
                assert(NARROW > 0 || !SAME_SESSION);    /* else: an end that was up alone may end as the other begins */
                start(ME)
            :: else
            fi
        :: else
        fi;
        nonce = 0; echo = 0 }
    od
}

/* One hello interval: it is longer than a round trip, and as long at either end; what is later than that is LATE.
 * The running session's hellos go on while an offer stands, or the offer itself would kill the session. */
active proctype Interval() {
end:
    do
    :: d_step { mine[0] > 0 && mine[1] > 0 && empty(hello[0]) && empty(hello[1]) && !narrow ->
        hello[1]!mine[0],theirs[0];
        hello[0]!mine[1],theirs[1] }
    :: d_step { mine[0] > 0 && mine[1] > 0 && empty(hello[0]) && empty(hello[1]) && narrow ->
        hear_short(0, 1);
        hello[1]!mine[0],theirs[0] }
    od
}

active proctype Path() {
end:
    do
    :: d_step { changes < NARROW -> changes++; narrow = !narrow }
    od
}

active proctype Faults() {
end:
    do
    :: d_step { restarts < RESTARTS && mine[0] > 0 -> restarts++; start(0) }
    :: d_step { restarts < RESTARTS && mine[1] > 0 -> restarts++; start(1) }
    :: d_step { losses < LOSS && nempty(hello[0]) -> hello[0]?_,_; losses++ }
    :: d_step { losses < LOSS && nempty(hello[1]) -> hello[1]?_,_; losses++ }
    :: d_step { lates < LATE && late_nonce == 0 && nempty(hello[0]) -> lates++; hello[0]?late_nonce,late_echo; late_to = 0 }
    :: d_step { lates < LATE && late_nonce == 0 && nempty(hello[1]) -> lates++; hello[1]?late_nonce,late_echo; late_to = 1 }
    :: d_step { late_nonce > 0 && nfull(hello[late_to]) ->
        hello[late_to]!late_nonce,late_echo; late_nonce = 0; late_echo = 0; late_to = 0 }
    :: d_step { late_nonce > 0 && nfull(hello[late_to]) && copies < TWICE ->
        hello[late_to]!late_nonce,late_echo; copies++ }
    od
}

#if NARROW == 0
ltl settles { <> [] SAME_SESSION }
#else
/* A way that stays narrow has no session in the end, one that stays wide has. */
ltl settles { (<> [] narrow -> <> [] (!up[0] && !up[1])) && (<> [] !narrow -> <> [] SAME_SESSION) }
#endif
