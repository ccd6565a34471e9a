/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most by which the tester's own stalls can have delayed a frame that was stamped at
 * `sent_at` and taken in at `received_at`: the DUT's latency lies between what was measured less
 * that, and what was measured. Times are TSC, delays ticks. There are three kinds.
 *
 * - A stall of the receiving loop: frames may have waited in a queue (queue_hold.h).
 * - A stall of the sending loop between the stamp and the hand-over to the port: to its end.
 * - The burst by which a sending loop catches up: an overdue frame may have stood behind those of
 *   the burst before it, for as long as these were coming back.
 *
 * A gap that is no stall is not counted, and neither is so short a part of a hand-over while the
 * sending loop has not looked at its clock since.
 */
#ifndef PLIMSOLL_TESTER_DELAY_H
#define PLIMSOLL_TESTER_DELAY_H

#include "dataplane/time/stall_ring.h"

struct tester_delay {
    uint64_t ticks; /* no more than the latency */
    bool unknown;   /* the stalls of the time when it was sent are forgotten */
};

/* What one receive queue has seen of the burst by which one sender caught up. */
struct catch_up {
    uint64_t burst; /* which, by its begin; 0: none yet */
    uint64_t since; /* its first frame may have come as early as this */
};

/*
 * Whether the sending loop may have delayed it, by a stall that is known, or by one that it can
 * only note when it looks at its clock again (`last_look`): then the frame was under way for as
 * long as a stall at least. The look is read first, as the loop writes it last.
 */
static inline bool
sender_may_have_delayed(const struct stall_ring *sender, const _Atomic uint64_t *last_look,
                        uint64_t shortest_stall, uint64_t sent_at, uint64_t received_at)
{
    if (received_at - sent_at >= shortest_stall &&
        atomic_load_explicit(last_look, memory_order_acquire) <= sent_at)
        return true;
    return sent_at < atomic_load_explicit(&sender->reach, memory_order_acquire);
}

/*
 * By both loops, where the receiving one held it up for `held` ticks. `catch_up` is NULL where
 * other queues take in frames of the same burst, so that it is not known when its first one came.
 */
struct tester_delay tester_delay(const struct stall_ring *sender, const _Atomic uint64_t *last_look,
                                 struct catch_up *catch_up, uint64_t held, uint64_t sent_at,
                                 uint64_t received_at);

#endif
