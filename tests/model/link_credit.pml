// SPDX-License-Identifier: Apache-2.0
/*
 * Link credits of one VC, or of one metered flow, on a lossy FIFO link (C9, K3, K7).
 *
 * The receiver has BUFFERS buffers.  A frame costs one or two of them.  The sender debits a frame when it leaves
 * its flow queue and counts it in `stamped` only when it is handed to the link (F6); frames in between are in
 * `queued`.  Totals are serial numbers modulo 16 that start so that they wrap.
 *
 *   SCHEME 0  each credit frame adds to the sender's headroom; no timer
 *   SCHEME 1  the receiver repeats an absolute limit; it counts only what arrives
 *   SCHEME 2  the protocol: as 1, and the sender repeats its total of stamped frames behind them, which tells
 *             the receiver what was lost on the way
 *
 * LOST_DATA, LOST_CONTROL, TWICE bound the faults; TWICE repeats a frame of either direction that is not data (a
 * data frame sent twice is dropped by its link sequence number, K2).
 */
#ifndef SCHEME
#define SCHEME 2
#endif
#ifndef BUFFERS
#define BUFFERS 3
#endif
#ifndef FRAMES
#define FRAMES 5
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

#define START 12
#define PLUS(x, y)  (((x) + (y)) & 15)
#define MINUS(x, y) (((x) - (y)) & 15)
#define NEWER(x, y) ((x) != (y) && MINUS(x, y) < 8)

mtype = { FRAME, TOTAL };
chan data   = [3] of { mtype, byte };   /* FRAME cost, or TOTAL stamped: the total keeps its place behind the frames */
chan credit = [2] of { byte };
chan queued = [2] of { byte };          /* debited, not yet stamped */
chan buffer = [BUFFERS] of { byte };    /* the receiver's, one entry per frame */

byte spent = START;                     /* sender: debited */
byte stamped = START;                   /* sender: handed to the link */
byte limit = PLUS(START, BUFFERS);      /* sender: may be spent up to here */
byte counted = START;                   /* receiver: everything the sender is known to have stamped */
byte occupied;                          /* receiver: buffers held */
byte granted = PLUS(START, BUFFERS);    /* receiver: the highest limit it has ever given */
byte taken, lost_data, lost_control, twice;
bool finished;
hidden byte v;
hidden mtype k;

#define COST(i) ((i) % 2 + 1)
/* What is free, beyond what the sender is known to have used.  Buffers of lost frames come back through `counted`. */
#define LIMIT PLUS(MINUS(counted, occupied), BUFFERS)

active proctype Sender() {
    do
    :: d_step { taken < FRAMES && nfull(queued) && !NEWER(PLUS(spent, COST(taken)), limit) ->
        queued!COST(taken);
        spent = PLUS(spent, COST(taken));
        taken++ }
    :: taken == FRAMES -> finished = true; break
    od
}

active proctype Stamp() {
end:
    do
    :: d_step { nempty(queued) && len(data) < 2 ->
        queued?v;
        data!FRAME,v;
        stamped = PLUS(stamped, v) }
    od
}

active proctype CreditAtSender() {
end:
    do
    :: d_step { credit?v ->
        if
        :: SCHEME == 0 -> limit = PLUS(limit, v)
        :: SCHEME > 0 && NEWER(v, limit) -> limit = v
        :: else
        fi }
    od
}

active proctype Receiver() {
end:
    do
    :: d_step { data?k,v ->
        if
        :: k == FRAME ->
            occupied = occupied + v;
            assert(occupied <= BUFFERS);                        /* invariant 6 */
            assert(SCHEME == 0 || !NEWER(PLUS(counted, v), granted));   /* data beyond the grant (K3) */
            counted = PLUS(counted, v);
            buffer!v
        :: k == TOTAL && NEWER(v, counted) -> counted = v       /* what is missing was lost */
        :: else
        fi }
    od
}

inline grant() {
    granted = LIMIT;
    credit!granted
}

active proctype Consumer() {
end:
    do
    :: d_step { nempty(buffer) && nfull(credit) ->
        buffer?v;
        occupied = occupied - v;
        if
        :: SCHEME == 0 -> credit!v
        :: else -> grant()
        fi }
    od
}

#if SCHEME > 0
active proctype LimitTimer() {
end:
    do
    :: d_step { !finished && len(credit) == 0 -> grant() }
    od
}
#endif
#if SCHEME > 1
active proctype TotalTimer() {
end:
    do
    :: d_step { !finished && len(data) == 0 -> data!TOTAL,stamped }
    od
}
#endif

#if LOST_DATA + LOST_CONTROL + TWICE > 0
active proctype Faults() {
end:
    do
    :: d_step { lost_data < LOST_DATA && data?[FRAME,_] -> data?k,v; lost_data++ }
    :: d_step { lost_control < LOST_CONTROL && data?[TOTAL,_] -> data?k,v; lost_control++ }
    :: d_step { lost_control < LOST_CONTROL && nempty(credit) -> credit?v; lost_control++ }
    :: d_step { twice < TWICE && len(credit) == 1 -> credit?<v>; credit!v; twice++ }
    :: d_step { twice < TWICE && data?[TOTAL,_] && len(data) < 3 -> data?<k,v>; data!k,v; twice++ }
    od
}
#endif

ltl settles { <> finished }
