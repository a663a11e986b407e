// SPDX-License-Identifier: Apache-2.0
/*
 * A retry channel of one link (K6, K2): frames that are lost are sent again until the other end has them in order.
 *
 * The sender keeps WINDOW frames at most.  The receiver takes the next number only.  A frame ahead of it makes it ask
 * once for all from the missing one on (NAK); when nothing comes back the sender asks how far the receiver is (ASK),
 * and the answer names the sender's round, so that late answers start nothing.  Asks and reports travel apart from the
 * frames: no order between them is assumed.  Numbers are modulo 8 and wrap in every run.
 *
 *   SCHEME 0  no ASK: a loss at the end of a burst is never noticed
 *   SCHEME 1  the receiver takes whatever is newer
 *   SCHEME 2  the protocol
 *
 * LOST_DATA, LOST_CONTROL, TWICE, LATE bound the faults; LATE lets one frame overtake another.
 */
#ifndef SCHEME
#define SCHEME 2
#endif
#ifndef FRAMES
#define FRAMES 5
#endif
#ifndef WINDOW
#define WINDOW 3
#endif
#ifndef LOST_DATA
#define LOST_DATA 0
#endif
#ifndef LOST_CONTROL
#define LOST_CONTROL 0
#endif
#ifndef TWICE
#define TWICE 0
#endif
#ifndef LATE
#define LATE 0
#endif

#define START 5
#define PLUS(x, y)  (((x) + (y)) & 7)
#define MINUS(x, y) (((x) - (y)) & 7)
#define NEWER(x, y) ((x) != (y) && MINUS(x, y) < 4)

mtype = { REPORT, NAK, ANSWER };
chan data   = [3] of { byte, byte };        /* number, and which frame it is */
chan ask    = [1] of { byte, byte };        /* last number sent, round */
chan report = [2] of { mtype, byte, byte }; /* last number taken in order, round of the ask */

byte made;                  /* frames stamped */
byte sent = START;          /* the last number given out */
byte settled = START;       /* the last number that the receiver is known to have */
byte again = START;         /* the last number sent since the sender went back; sent, when it is through */
byte base = START;          /* where it went back to last */
bool went_back;
byte round;                 /* how often, modulo 4 */
byte taken = START;         /* receiver: the last number taken */
byte got;                   /* receiver: frames taken */
bool told;                  /* receiver: has sent a NAK since it took the last one */
byte lost_data, lost_control, twice, late;
bool tick;
hidden byte n, f, r, n2, f2;
hidden mtype k;

#define FRAME_OF(x) (made - 1 - MINUS(sent, x))

inline go_back() {
    again = settled;
    base = settled;
    went_back = true;
    round = (round + 1) & 3
}

active proctype Sender() {
end:
    do
    :: d_step { made < FRAMES && MINUS(sent, settled) < WINDOW && again == sent && nfull(data) ->
        sent = PLUS(sent, 1);
        again = sent;
        made++;
        data!sent,(made - 1) }
    :: d_step { again != sent && nfull(data) ->
        again = PLUS(again, 1);
        data!again,FRAME_OF(again) }
    :: d_step { report?k,n,r ->
        if
        :: NEWER(n, settled) ->
            assert(!NEWER(n, sent));
            settled = n;
            if :: NEWER(settled, again) -> again = settled :: else fi
        :: else
        fi;
        if
        :: k == NAK && n == settled && settled != sent && (!went_back || base != n) -> go_back()
        :: k == ANSWER && n == settled && settled != sent && r == round -> go_back()
        :: else
        fi }
#if SCHEME > 0
    :: d_step { settled != sent && again == sent && empty(ask) -> ask!sent,round }
#endif
    od
}

active proctype Receiver() {
end:
    do
    :: d_step { nfull(report) && nempty(data) ->
        data?n,f;
        if
        :: n == PLUS(taken, 1) || (SCHEME == 1 && NEWER(n, taken)) ->
            assert(f == got);               /* each once, in order */
            taken = n;
            got++;
            told = false;
            report!REPORT,taken,0
        :: NEWER(n, PLUS(taken, 1)) && !told && SCHEME != 1 -> told = true; report!NAK,taken,0
        :: else
        fi }
    :: d_step { nfull(report) && nempty(ask) ->
        ask?n,r;
        if
        :: n == taken -> report!REPORT,taken,0
        :: else -> report!ANSWER,taken,r
        fi }
    od
}

/* Time goes on: a run in which nothing happens any more is one, too. */
active proctype Time() {
end:
    do
    :: tick = !tick
    od
}

#if LOST_DATA + LOST_CONTROL + TWICE + LATE > 0
active proctype Faults() {
end:
    do
    :: d_step { lost_data < LOST_DATA && nempty(data) -> data?n,f; lost_data++ }
    :: d_step { lost_control < LOST_CONTROL && nempty(ask) -> ask?n,r; lost_control++ }
    :: d_step { lost_control < LOST_CONTROL && nempty(report) -> report?k,n,r; lost_control++ }
    :: d_step { twice < TWICE && len(data) > 0 && len(data) < 3 -> data?<n,f>; data!n,f; twice++ }
    :: d_step { late < LATE && len(data) == 2 -> data?n,f; data?n2,f2; data!n2,f2; data!n,f; late++ }
    od
}
#endif

/* Everything gets through, and then all is silent. */
ltl settles { <>[] (got == FRAMES && settled == sent && again == sent && len(data) == 0) }
