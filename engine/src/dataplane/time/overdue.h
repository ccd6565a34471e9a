/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a sending loop that was away has caught up: it has once it went through a whole turn
 * without sending a frame that was due before it came back. Times are TSC.
 */
#ifndef PLIMSOLL_OVERDUE_H
#define PLIMSOLL_OVERDUE_H

#include "dataplane/time/stall_ring.h"

struct overdue {
    uint64_t before;    /* frames due before then are overdue; 0: none is */
    uint64_t until;     /* the last turn that may have sent such frames was over then */
    uint32_t sent_turn; /* the last that may have: the loop came back in it, or it did */
};

/* The loop came back at `now`, in this turn, which may have sent before. */
static inline void
overdue_begin(struct overdue *overdue, uint64_t now, uint32_t turn)
{
    overdue->before = now;
    overdue->sent_turn = turn;
}

/* Frames are about to be sent the first of which was due at `due_at`. */
static inline void
overdue_send(struct overdue *overdue, uint64_t due_at, uint32_t turn)
{
    if (__builtin_expect(due_at < overdue->before, 0))
        overdue->sent_turn = turn;
}

/* At a turn's end, at `now`. */
static inline void
overdue_end_turn(struct overdue *overdue, struct stall_ring *ring, uint64_t now, uint32_t turn)
{
    if (overdue->sent_turn == turn) {
        /* Past what it stamped. */
        overdue->until = now + 1;
        return;
    }
    stall_ring_caught_up(ring, overdue->until);
    overdue->before = 0;
}

#endif
