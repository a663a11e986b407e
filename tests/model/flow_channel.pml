// SPDX-License-Identifier: Apache-2.0
/*
 * Flow channels over two lossy links:  U --link1--> M --link2--> D
 *
 * U is an ingress edge (host flows, one output flow table), M a transit node (input table, a FIFO between
 * crossing and stamp, output table), D the egress edge that delivers and acknowledges.  Every frame is one
 * byte long, so positions count frames.  Mechanism ids (F2, K4, ...) are those of the design documents;
 * README.md says what is and what is not modelled.
 *
 * Options:
 *   NFLOW, LEN0, LEN1   host flows and the frames each of them hands over (2 at most)
 *   NID1, NID2          usable flow IDs on link 1 and on link 2
 *   CAP, FIFO           frames a link direction can hold; frames between crossing and stamp at M
 *   LOSS, DUP, SWAP     frames (data, probe, ACK; either link) lost, sent twice, overtaken by the next one
 *   DROP                frames dropped inside a node: from a flow queue, or between crossing and stamp
 *   ENDS, WHO           session ends, and who may start one: 1 U, 2 M on link 1, 4 M on link 2, 8 D, 16 M restarts
 *   TIMER               1 probe timers fire on an idle link, 2 at any instant at all
 *   STRICT              no ACK record of the former owner may be on its way when an ID is reused -- this is violated
 *   REST                1 a flow keeps its IDs at extent zero, and they may be taken from it at any time from then on (F9)
 *   REDIRECT            flows that M asks U to move (R9): ACK records say so as soon as one of their frames has crossed
 *   SETTLED             1 M says when nothing is left beyond it of a session of link 1 that has ended, and U's flows go on then (R12)
 *   LATE                1 ACK deltas reach the input table of M one step later than its output table
 */
#ifndef NFLOW
#define NFLOW 2
#endif
#ifndef LEN0
#define LEN0 2
#endif
#ifndef LEN1
#define LEN1 2
#endif
#ifndef NID1
#define NID1 2
#endif
#ifndef NID2
#define NID2 2
#endif
#ifndef CAP
#define CAP 2
#endif
#ifndef FIFO
#define FIFO 2
#endif
#ifndef LOSS
#define LOSS 0
#endif
#ifndef DUP
#define DUP 0
#endif
#ifndef SWAP
#define SWAP 0
#endif
#ifndef DROP
#define DROP 0
#endif
#ifndef ENDS
#define ENDS 0
#endif
#ifndef WHO
#define WHO 15
#endif
#ifndef TIMER
#define TIMER 1
#endif
#ifndef LATE
#define LATE 0
#endif
#ifndef REST
#define REST 0
#endif
#ifndef REDIRECT
#define REDIRECT 0
#endif
#ifndef SETTLED
#define SETTLED 0
#endif

#define NONE   9        /* no ID, no owner */
#define ORPHAN 8        /* owner of an output entry whose input session has ended (K9) */

/* Positions and totals are serial numbers (K3).  Both ends compute the first one from the session (K4), and it
 * lies so that the positions wrap within a run. */
#define START(tag)  ((253 + (tag)) & 255)
#define PLUS(x, y)  (((x) + (y)) & 255)
#define MINUS(x, y) (((x) - (y)) & 255)
#define NEWER(x, y) ((x) != (y) && MINUS(x, y) < 128)
#define LEN(f)     ((f) == 0 -> LEN0 : LEN1)
#define PAY(f, s)  ((f) * 2 + (s))      /* ghost payload: which flow, which of its frames */
#define FLOW(p)    ((p) / 2)
#define SEQ(p)     ((p) % 2)

mtype = { DATA, PROBE };

/* kind, session tag, flow ID, position, payload */
chan link1 = [CAP] of { mtype, byte, byte, byte, byte };
chan link2 = [CAP] of { mtype, byte, byte, byte, byte };
/* ACK record: session tag, flow ID, ack_flow, lost total -- absolute totals only (W2, K3) -- and whether the flow is to
 * move: 0, or as a ghost whose frame made M say so, and in which of its ways it was sent (R9) */
chan back1 = [CAP] of { byte, byte, byte, byte, byte };
chan back2 = [CAP] of { byte, byte, byte, byte, byte };

typedef Out {           /* output flow table entry (F6) */
    byte data = START(1);       /* stamped; runs on when the ID is reused (K4) */
    byte ack = START(1);
    byte lost;
    byte owner = NONE;         /* U: host flow; M: input flow ID or ORPHAN */
    byte crossed;       /* frames that refer to this entry and have no position yet */
    byte flow           /* ghost: the host flow this ID names */
}
typedef In {            /* input flow table entry (F5) */
    byte next = START(1);       /* next_data_flow: what the link has brought */
    byte data = START(1);       /* what has left the flow queue */
    byte ack = START(1);
    byte lost;
    byte out = NONE;           /* outgoing ID reserved by this entry (F6) */
    byte told;          /* the next record asks U to move the flow (R9); as it stands there */
    bool dirty          /* an ACK record is due */
}

Out uo[NID1];                           /* U towards link 1 */
In  mi[NID1];                           /* M from link 1 */
Out mo[NID2];                           /* M towards link 2 */
In  di[NID2];                           /* D from link 2 */

chan mq[NID1] = [2] of { byte };        /* flow queues of M (F7) */
chan fifo     = [FIFO] of { byte, byte };       /* crossed, not yet stamped: outgoing ID, payload */
chan dq[NID2] = [2] of { byte };        /* flow queues of D */
#if LATE
chan late = [2] of { byte, byte, byte, byte };  /* input ID, input session, ack delta, lost delta */
#endif

/* Link sessions (K1).  The three-way echo is abstracted: one end takes up a new session, the other one follows
 * at some later time; until then each drops what the other sends. */
byte s1u = 1, s1m = 1, s2m = 1, s2d = 1;

/* Edge flow table at U (F4). */
byte flow_id[NFLOW] = NONE;
byte handed[NFLOW];
byte edge_ack[NFLOW];
byte edge_lost[NFLOW];
bool leaving[NFLOW];                    /* BLOCK_FOR_REDIRECT: nothing is sent before all is settled (R9) */
byte owed[NFLOW];                       /* settled by a session end, not yet reported: one life must pass (K9) */
#if SETTLED
byte ended[NFLOW];                      /* the session that did it */
byte said;                              /* by M: of sessions of link 1 before this one nothing is left beyond M (R12) */
bool unsure;                            /* M: of what went by an ended session of link 2, or of a former life, there may be something */
#define ENDED(f) ended[f] = s1u
#define UNSURE unsure = true
#define FORGETS unsure = true             /* a node that has just begun */
#else
#define ENDED(f) skip
#define UNSURE skip
#define FORGETS skip
#endif

/* Ghosts. */
byte way[NFLOW];                        /* how often the flow could choose its way: at extent zero only */
byte sent_by[4];                        /* by payload: the way that the frame was sent on */
byte redirects;
byte got[NFLOW];                        /* bit s: frame s was delivered */
byte faults_loss, faults_dup, faults_swap, faults_drop, ends;
bool finished;

#if REDIRECT > 0
#define CHOOSES(f) way[f]++
#define SENT(f, p) sent_by[p] = way[f]
#else
#define CHOOSES(f) skip
#define SENT(f, p) skip
#endif

#define DELIVERED(f) ((got[f] & 1) + (got[f] >> 1))

/* Scratch, never alive between two steps. */
hidden mtype k;
hidden byte tag, id, pos, pay, a, l, h, f, n, j, r;

/* Some copy of frame p is still somewhere behind U. */
#if NID1 > 1
#define IN_MQ(p) (mq[0]??[eval(p)] || mq[1]??[eval(p)])
#else
#define IN_MQ(p) (mq[0]??[eval(p)])
#endif
#if NID2 > 1
#define IN_DQ(p) (dq[0]??[eval(p)] || dq[1]??[eval(p)])
#else
#define IN_DQ(p) (dq[0]??[eval(p)])
#endif
#define ABROAD(p) (link1??[DATA,_,_,_,eval(p)] || IN_MQ(p) || fifo??[_,eval(p)] || link2??[DATA,_,_,_,eval(p)] || IN_DQ(p))
/* K8: after one life none of the flow's frames exists any more, wherever it was. */
#define LIFE_OVER(f) (!ABROAD(PAY(f, 0)) && !ABROAD(PAY(f, 1)))
/* Though link 1's session has ended, frame p may still be delivered; links keep the order here, so that what is on link 2 is. */
#define BEYOND(p) (IN_MQ(p) || fifo??[_,eval(p)] || link2??[DATA,eval(s2d),_,_,eval(p)] || IN_DQ(p))

#define ORDERED(e) assert(!NEWER(e.ack, e.data))

/* ---- what every receiver does with a frame or probe of the right session (F12, K4, K5) ---- */
inline receive(e, q) {
    if
    :: NEWER(pos, e.next) ->               /* a hole: lost for certain, on a FIFO link */
        h = MINUS(pos, e.next);
        e.next = PLUS(e.next, h);
        e.data = PLUS(e.data, h);
        e.ack = PLUS(e.ack, h);
        e.lost = PLUS(e.lost, h);
        e.dirty = true
    :: else
    fi;
    if
    :: k == PROBE -> e.dirty = true     /* answered with the present totals */
    :: k == DATA && pos == e.next ->
        assert(nfull(q));
        q!pay;
        e.next = PLUS(e.next, 1)
    :: else                             /* behind: a duplicate */
    fi;
    assert(MINUS(e.next, e.data) == len(q));
    ORDERED(e)
}

/* ---- M: the way between its two tables ---- */

/* The input entry gives the outgoing ID back at flow_extent zero and empty queue, never sooner (F6, F9). */
#define M_AT_REST(i) (mi[i].out != NONE && mi[i].data == mi[i].ack && len(mq[i]) == 0)
inline end_rest(i) {
    mo[mi[i].out].owner = NONE;
    mi[i].out = NONE
}
inline give_back(i) {
    if
    :: !REST && M_AT_REST(i) -> end_rest(i)
    :: else
    fi
}

inline settle_input(i, acked, lost_) {
    mi[i].ack = PLUS(mi[i].ack, acked);
    mi[i].lost = PLUS(mi[i].lost, lost_);
    mi[i].dirty = true;
    ORDERED(mi[i]);
    give_back(i)
}

inline free_orphan(o) {
    if
    :: mo[o].owner == ORPHAN && mo[o].data == mo[o].ack && mo[o].crossed == 0 -> mo[o].owner = NONE
    :: else
    fi
}

/* ---- session ends (K9), the same for the end that starts one and for the one that follows ---- */
inline end_link1_at_u(new) {
    j = 0;
    do
    :: j < NID1 ->
        if
        :: uo[j].owner != NONE ->
            owed[uo[j].owner] = owed[uo[j].owner] + MINUS(uo[j].data, uo[j].ack);
            ENDED(uo[j].owner);
            CHOOSES(uo[j].owner);
            leaving[uo[j].owner] = false;
            flow_id[uo[j].owner] = NONE;
            uo[j].owner = NONE
        :: else
        fi;
        uo[j].data = START(new);
        uo[j].ack = START(new);
        uo[j].lost = 0;
        j++
    :: else -> break
    od;
    s1u = new
}

inline end_link1_at_m(new) {
    j = 0;
    do
    :: j < NID1 ->
        do
        :: len(mq[j]) > 0 -> mq[j]?_
        :: else -> break
        od;
        if
        :: mi[j].out != NONE ->         /* what has crossed goes on, and its ACKs are absorbed */
            h = mi[j].out;
            mo[h].owner = ORPHAN;
            free_orphan(h);
            mi[j].out = NONE
        :: else
        fi;
        mi[j].next = START(new);
        mi[j].data = START(new);
        mi[j].ack = START(new);
        mi[j].lost = 0;
        mi[j].told = 0;
        mi[j].dirty = false;
        j++
    :: else -> break
    od;
    s1m = new
}

inline end_link2_at_m(new) {
    do
    :: len(fifo) > 0 -> fifo?_,_        /* never stamped: this end settles them, below */
    :: else -> break
    od;
    j = 0;
    do
    :: j < NID2 ->
        if
        :: mo[j].owner < ORPHAN ->
            f = mo[j].owner;
            n = MINUS(mo[j].data, mo[j].ack) + mo[j].crossed;
            mo[j].owner = NONE;
            mi[f].out = NONE;
            mi[f].ack = PLUS(mi[f].ack, n);
            mi[f].lost = PLUS(mi[f].lost, n);
            if
            :: n > 0 -> UNSURE; mi[f].dirty = true
            :: else
            fi;
            ORDERED(mi[f])
        :: mo[j].owner == ORPHAN -> UNSURE; mo[j].owner = NONE      /* it has nobody to report to */
        :: else
        fi;
        mo[j].data = START(new);
        mo[j].ack = START(new);
        mo[j].lost = 0;
        mo[j].crossed = 0;
        j++
    :: else -> break
    od;
    s2m = new
}

inline end_link2_at_d(new) {
    j = 0;
    do
    :: j < NID2 ->
        do
        :: len(dq[j]) > 0 -> dq[j]?_
        :: else -> break
        od;
        di[j].next = START(new);
        di[j].data = START(new);
        di[j].ack = START(new);
        di[j].lost = 0;
        di[j].dirty = false;
        j++
    :: else -> break
    od;
    s2d = new
}

/* ---- U ---- */
inline hand_over(fl) {
    if
    :: flow_id[fl] == NONE ->
        j = 0;
        do
        :: uo[j].owner != NONE -> j++
        :: else -> break
        od;
        /* Invariant 4: while a frame can still arrive, its ID names the same flow. */
        assert(DUP + SWAP > 0 || !link1??[DATA,eval(s1u),eval(j),_,_]);
        assert(s1u != s1m || empty(mq[j]));
#ifdef STRICT
        assert(!back1??[eval(s1u),eval(j),_,_,_]);
#endif
        uo[j].owner = fl;
        flow_id[fl] = j
    :: else -> j = flow_id[fl]
    fi;
    link1!DATA,s1u,j,uo[j].data,PAY(fl, handed[fl]);
    uo[j].data = PLUS(uo[j].data, 1);
    SENT(fl, PAY(fl, handed[fl]));
    handed[fl] = handed[fl] + 1
}

#if NID1 > 1
#define ID_FREE1 (uo[0].owner == NONE || uo[1].owner == NONE)
#else
#define ID_FREE1 (uo[0].owner == NONE)
#endif

/* ---- M: crossing ---- */
#if NID2 > 1
#define ID_FREE2 (mo[0].owner == NONE || mo[1].owner == NONE)
#else
#define ID_FREE2 (mo[0].owner == NONE)
#endif

inline reserve(i) {
    j = 0;
    do
    :: mo[j].owner != NONE -> j++
    :: else -> break
    od;
    assert(mo[j].crossed == 0 && mo[j].data == mo[j].ack);
    assert(DUP + SWAP > 0 || !link2??[DATA,eval(s2m),eval(j),_,_]);             /* invariant 4 */
    assert(s2m != s2d || empty(dq[j]));
    mq[i]?<pay>;
    mo[j].owner = i;
    mo[j].flow = FLOW(pay);
    mi[i].out = j
}

inline cross(i) {
    mq[i]?pay;
    j = mi[i].out;
    assert(mo[j].owner == i && mo[j].flow == FLOW(pay));        /* never on another flow's path */
    mi[i].data = PLUS(mi[i].data, 1);
    mo[j].crossed = mo[j].crossed + 1;
    fifo!j,pay
}

/* ---- timers: they ask, they never release (K5) ---- */
#if NID1 > 1
#define QUIET_M (!mi[0].dirty && !mi[1].dirty)
#else
#define QUIET_M (!mi[0].dirty)
#endif
#if NID2 > 1
#define QUIET_D (!di[0].dirty && !di[1].dirty)
#else
#define QUIET_D (!di[0].dirty)
#endif
#if TIMER == 2
#define DUE1 nfull(link1)
#define DUE2 nfull(link2)
#else
#define DUE1 (empty(link1) && empty(back1) && QUIET_M)
#define DUE2 (empty(link2) && empty(back2) && QUIET_D)
#endif

/*
 * The processes that exist once per flow or ID come first, so that _pid tells them which one is theirs.  A timer
 * of each ID is a process of its own: weak fairness is per process, and no timer may starve another one.
 */
active [NFLOW] proctype Host() {
end:
    do
    :: d_step { handed[_pid] < LEN(_pid) && owed[_pid] == 0 && !leaving[_pid] && nfull(link1) &&
                (flow_id[_pid] != NONE || ID_FREE1) ->
        hand_over(_pid) }
    od
}

#define IN (_pid - NFLOW)
active [NID1] proctype Crossing() {
end:
    do
    :: d_step { nempty(mq[IN]) && mi[IN].out == NONE && ID_FREE2 -> reserve((IN)) }
    :: d_step { nempty(mq[IN]) && mi[IN].out != NONE && nfull(fifo) -> cross((IN)) }
#if REDIRECT > 0
    :: d_step { redirects < REDIRECT && nempty(mq[IN]) && mi[IN].out != NONE && nfull(fifo) -> cross((IN));
        mi[IN].told = 1 + FLOW(pay) * 8 + sent_by[pay];
        redirects++ }
#endif
    od
}

#define AT_U (_pid - NFLOW - NID1)
active [NID1] proctype ProbeFromU() {
end:
    do
    :: d_step { DUE1 && NEWER(uo[AT_U].data, uo[AT_U].ack) -> link1!PROBE,s1u,AT_U,uo[AT_U].data,0 }
    od
}

#define AT_M (_pid - NFLOW - NID1 - NID1)
active [NID2] proctype ProbeFromM() {
end:
    do
    :: d_step { DUE2 && NEWER(mo[AT_M].data, mo[AT_M].ack) -> link2!PROBE,s2m,AT_M,mo[AT_M].data,0 }
    od
}

/* ---- the rest of U ---- */
active proctype AckAtU() {
end:
    do
    :: d_step { back1?tag,id,a,l,r ->
        if
        :: tag == s1u && NEWER(a, uo[id].ack) ->
            assert(!NEWER(a, uo[id].data));                                      /* K3 */
            assert(MINUS(l, uo[id].lost) <= MINUS(a, uo[id].ack));      /* K3 */
            f = uo[id].owner;
            edge_ack[f] = edge_ack[f] + MINUS(a, uo[id].ack);
            edge_lost[f] = edge_lost[f] + MINUS(l, uo[id].lost);
            assert(edge_ack[f] - edge_lost[f] <= DELIVERED(f));
            uo[id].ack = a;
            uo[id].lost = l;
            if
            :: r != 0 ->                /* believed, for it acknowledges something: of this flow on this way (R9) */
                assert(r == 1 + f * 8 + way[f]);
                leaving[f] = true
            :: else
            fi;
            if
            :: uo[id].data == uo[id].ack && (!REST || leaving[f]) ->            /* F9 */
                CHOOSES(f);
                leaving[f] = false;
                flow_id[f] = NONE;
                uo[id].owner = NONE
            :: uo[id].data == uo[id].ack && REST && !leaving[f] -> CHOOSES(f)
            :: else
            fi
        :: else                         /* another session, or nothing new in it */
        fi }
    od
}

inline settle_owed() {
    edge_ack[f] = edge_ack[f] + owed[f];
    edge_lost[f] = edge_lost[f] + owed[f];
    owed[f] = 0
}
inline said_settled() {
    assert(!BEYOND(PAY(f, 0)) && !BEYOND(PAY(f, 1)));
    settle_owed()
}

/* A session end at U settles a flow's outstanding frames; the flow may go on only one life later, or its new
 * frames could overtake those an orphan at M still carries (K9). */
active proctype Life() {
end:
    do
#if SETTLED
    :: d_step { owed[0] > 0 && said > ended[0] -> f = 0; said_settled() }
#if NFLOW > 1
    :: d_step { owed[1] > 0 && said > ended[1] -> f = 1; said_settled() }
#endif
#endif
    :: d_step { owed[0] > 0 && LIFE_OVER(0) -> f = 0;
        settle_owed() }
#if NFLOW > 1
    :: d_step { owed[1] > 0 && LIFE_OVER(1) -> f = 1;
        settle_owed() }
#endif
    od
}

/* ---- the rest of M ---- */
#if SETTLED
/* What M says reaches U at some later time, which is when M says it. */
#if NID2 > 1
#define ORPHANS (mo[0].owner == ORPHAN || mo[1].owner == ORPHAN)
#else
#define ORPHANS (mo[0].owner == ORPHAN)
#endif
active proctype Settled() {
end:
    do
    :: d_step { said < s1m && !ORPHANS && !unsure -> said = s1m }
    :: d_step { unsure && LIFE_OVER(0) && LIFE_OVER(1) -> unsure = false }
    od
}
#endif

/* The ID may be another flow's by now: the one that rests here ends (F9). */
inline meet(i) {
    if
    :: REST && k == DATA && !NEWER(mi[i].next, pos) && mi[i].out != NONE && mo[mi[i].out].flow != FLOW(pay) ->
        assert(M_AT_REST(i));
        end_rest(i)
    :: else
    fi
}

active proctype DataAtM() {
end:
    do
    :: d_step { link1?k,tag,id,pos,pay ->
        if
        :: tag == s1m -> meet(id); receive(mi[id], mq[id])
        :: else
        fi }
    od
}

active proctype Stamp() {
end:
    do
    :: d_step { nempty(fifo) && nfull(link2) ->
        fifo?id,pay;
        assert(mo[id].owner != NONE && mo[id].flow == FLOW(pay));
        mo[id].crossed = mo[id].crossed - 1;
        link2!DATA,s2m,id,mo[id].data,pay;
        mo[id].data = PLUS(mo[id].data, 1) }
    od
}

active proctype AckAtM() {
end:
    do
#if LATE
    :: d_step { nfull(late) && nempty(back2) -> back2?tag,id,a,l,_;
#else
    :: d_step { back2?tag,id,a,l,_ ->
#endif
        if
        :: tag == s2m && NEWER(a, mo[id].ack) ->
            assert(!NEWER(a, mo[id].data));
            assert(MINUS(l, mo[id].lost) <= MINUS(a, mo[id].ack));
            n = MINUS(a, mo[id].ack);
            h = MINUS(l, mo[id].lost);
            mo[id].ack = a;
            mo[id].lost = l;
            f = mo[id].owner;
            if
            :: f == ORPHAN -> free_orphan(id)
            :: else ->
                assert(f != NONE);
#if LATE
                late!f,s1m,n,h
#else
                settle_input(f, n, h)
#endif
            fi
        :: else
        fi }
    od
}

#if LATE
active proctype LateAtM() {
end:
    do
    :: d_step { late?f,tag,n,h ->
        if
        :: tag == s1m -> settle_input(f, n, h)
        :: else                         /* of an ended session: absorbed */
        fi }
    od
}
#endif

inline acknowledge(e, i, back, session) {
    back!session,i,e.ack,e.lost,e.told;
    e.told = 0;
    e.dirty = false
}

active proctype AckFromM() {
end:
    do
    :: d_step { mi[0].dirty && nfull(back1) -> acknowledge(mi[0], 0, back1, s1m) }
#if NID1 > 1
    :: d_step { mi[1].dirty && nfull(back1) -> acknowledge(mi[1], 1, back1, s1m) }
#endif
    od
}

/* ---- D ---- */
active proctype DataAtD() {
end:
    do
    :: d_step { link2?k,tag,id,pos,pay ->
        if
        :: tag == s2d -> receive(di[id], dq[id])
        :: else
        fi }
    od
}

inline deliver(o) {
    dq[o]?pay;
    f = FLOW(pay);
    assert((got[f] >> SEQ(pay)) == 0);                          /* in order, and never twice */
    assert(s2m != s2d || mo[o].flow == f);                      /* and by the path that bears its name */
    got[f] = got[f] | (1 << SEQ(pay));
    di[o].data = PLUS(di[o].data, 1);
    di[o].ack = PLUS(di[o].ack, 1);
    di[o].dirty = true
}

active proctype Deliver() {
end:
    do
    :: d_step { nempty(dq[0]) -> deliver(0) }
#if NID2 > 1
    :: d_step { nempty(dq[1]) -> deliver(1) }
#endif
    od
}

active proctype AckFromD() {
end:
    do
    :: d_step { di[0].dirty && nfull(back2) -> acknowledge(di[0], 0, back2, s2d) }
#if NID2 > 1
    :: d_step { di[1].dirty && nfull(back2) -> acknowledge(di[1], 1, back2, s2d) }
#endif
    od
}

/* ---- whoever needs an ID takes it from a flow at rest; here at any time (F9, K11) ---- */
#if REST
#define U_AT_REST(i) (uo[i].owner != NONE && uo[i].data == uo[i].ack)
inline reclaim_at_u(i) {
    flow_id[uo[i].owner] = NONE;
    uo[i].owner = NONE
}
active proctype ReclaimAtU() {
end:
    do
    :: d_step { U_AT_REST(0) -> reclaim_at_u(0) }
#if NID1 > 1
    :: d_step { U_AT_REST(1) -> reclaim_at_u(1) }
#endif
    od
}
active proctype ReclaimAtM() {
end:
    do
    :: d_step { M_AT_REST(0) -> end_rest(0) }
#if NID1 > 1
    :: d_step { M_AT_REST(1) -> end_rest(1) }
#endif
    od
}
#endif

/* ---- sessions ---- */
#if ENDS > 0
#define FRESH(x, y) ((x) > (y) -> (x) + 1 : (y) + 1)        /* a nonce seen by neither end */
active proctype SessionEnd() {
end:
    do
    :: d_step { (WHO & 1) && ends < ENDS && !finished -> ends++; n = FRESH(s1u, s1m); end_link1_at_u(n) }
    :: d_step { (WHO & 2) && ends < ENDS && !finished -> ends++; n = FRESH(s1u, s1m); end_link1_at_m(n) }
    :: d_step { (WHO & 4) && ends < ENDS && !finished -> ends++; l = FRESH(s2m, s2d); end_link2_at_m(l) }
    :: d_step { (WHO & 8) && ends < ENDS && !finished -> ends++; l = FRESH(s2m, s2d); end_link2_at_d(l) }
    :: d_step { (WHO & 16) && ends < ENDS && !finished -> ends++; l = FRESH(s2m, s2d); end_link2_at_m(l);
                a = FRESH(s1u, s1m); end_link1_at_m(a); FORGETS }
    od
}
active proctype Follow1() {
end:
    do
    :: d_step { s1u < s1m -> end_link1_at_u(s1m) }
    :: d_step { s1m < s1u -> end_link1_at_m(s1u) }
    od
}
active proctype Follow2() {
end:
    do
    :: d_step { s2m < s2d -> end_link2_at_m(s2d) }
    :: d_step { s2d < s2m -> end_link2_at_d(s2m) }
    od
}
#endif

/* ---- faults ---- */
#if LOSS + DUP + SWAP + DROP > 0
inline twice(link) { link?<k,tag,id,pos,pay>; link!k,tag,id,pos,pay; faults_dup++ }
inline twice_ack(back) { back?<tag,id,a,l,r>; back!tag,id,a,l,r; faults_dup++ }
inline dropped_from(e, q) {             /* K4: settled by the table whose queue held it */
    q?pay;
    e.data = PLUS(e.data, 1);
    e.ack = PLUS(e.ack, 1);
    e.lost = PLUS(e.lost, 1);
    e.dirty = true;
    faults_drop++
}
active proctype Faults() {
end:
    do
#if LOSS > 0
    :: d_step { faults_loss < LOSS && nempty(link1) -> link1?_,_,_,_,_; faults_loss++ }
    :: d_step { faults_loss < LOSS && nempty(link2) -> link2?_,_,_,_,_; faults_loss++ }
    :: d_step { faults_loss < LOSS && nempty(back1) -> back1?_,_,_,_,_; faults_loss++ }
    :: d_step { faults_loss < LOSS && nempty(back2) -> back2?_,_,_,_,_; faults_loss++ }
#endif
#if DUP > 0
    :: d_step { faults_dup < DUP && nempty(link1) && nfull(link1) -> twice(link1) }
    :: d_step { faults_dup < DUP && nempty(link2) && nfull(link2) -> twice(link2) }
    :: d_step { faults_dup < DUP && nempty(back1) && nfull(back1) -> twice_ack(back1) }
    :: d_step { faults_dup < DUP && nempty(back2) && nfull(back2) -> twice_ack(back2) }
#endif
#if SWAP > 0
    :: d_step { faults_swap < SWAP && len(link1) > 1 -> link1?k,tag,id,pos,pay; link1!k,tag,id,pos,pay; faults_swap++ }
    :: d_step { faults_swap < SWAP && len(link2) > 1 -> link2?k,tag,id,pos,pay; link2!k,tag,id,pos,pay; faults_swap++ }
    :: d_step { faults_swap < SWAP && len(back1) > 1 -> back1?tag,id,a,l,r; back1!tag,id,a,l,r; faults_swap++ }
    :: d_step { faults_swap < SWAP && len(back2) > 1 -> back2?tag,id,a,l,r; back2!tag,id,a,l,r; faults_swap++ }
#endif
#if DROP > 0
    :: d_step { faults_drop < DROP && nempty(mq[0]) -> dropped_from(mi[0], mq[0]); give_back(0) }
    :: d_step { faults_drop < DROP && nempty(dq[0]) -> dropped_from(di[0], dq[0]) }
#if NID1 > 1
    :: d_step { faults_drop < DROP && nempty(mq[1]) -> dropped_from(mi[1], mq[1]); give_back(1) }
#endif
#if NID2 > 1
    :: d_step { faults_drop < DROP && nempty(dq[1]) -> dropped_from(di[1], dq[1]) }
#endif
    :: d_step { faults_drop < DROP && nempty(fifo) ->  /* never stamped: the sender settles it (K4) */
        fifo?id,pay;
        mo[id].crossed = mo[id].crossed - 1;
        f = mo[id].owner;
        if
        :: f == ORPHAN -> free_orphan(id)
        :: else -> settle_input(f, 1, 1)
        fi;
        faults_drop++ }
#endif
    od
}
#endif

/* ---- the end ---- */
#if NFLOW > 1
#define ALL_SETTLED (edge_ack[0] == LEN0 && edge_ack[1] == LEN1)
#else
#define ALL_SETTLED (edge_ack[0] == LEN0)
#endif
#if NID1 > 1
#define FREE1 (uo[0].owner == NONE && uo[1].owner == NONE)
#else
#define FREE1 (uo[0].owner == NONE)
#endif
#if NID2 > 1
#define FREE2 (mo[0].owner == NONE && mo[1].owner == NONE)
#else
#define FREE2 (mo[0].owner == NONE)
#endif

active proctype Done() {
    d_step { ALL_SETTLED && FREE1 && FREE2 ->
        finished = true;
        assert(empty(fifo));
        j = 0;
        do
        :: j < NID1 -> assert(mi[j].out == NONE && empty(mq[j])); j++
        :: else -> break
        od;
        j = 0;
        do
        :: j < NFLOW ->
            assert(!leaving[j] && handed[j] == LEN(j) && edge_ack[j] == handed[j] && owed[j] == 0);
            /* Conservation: the source knows the real losses.  A session end may count a frame as lost that was
             * delivered but not acknowledged yet; it never counts a lost one as delivered, nor any of them twice. */
            if
            :: ends == 0 -> assert(edge_ack[j] - edge_lost[j] == DELIVERED(j))
            :: else -> assert(edge_ack[j] - edge_lost[j] <= DELIVERED(j))
            fi;
            assert(ends + faults_loss + faults_swap + faults_drop > 0 || edge_lost[j] == 0);   /* invariant 7 */
            j++
        :: else -> break
        od }
}

#define AT_REST (finished && len(link1) + len(link2) + len(back1) + len(back2) == 0)

ltl settles { <> [] AT_REST }
