/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since when frames may have waited in a receive queue because its polling loop was away. TSC.
 *
 * They may from a stall's begin on, and until a poll that began after the stall came back short:
 * then what came during the stall is out of the queue, and later frames found it empty. How long
 * that takes is so measured, not assumed.
 */
#ifndef PLIMSOLL_QUEUE_HOLD_H
#define PLIMSOLL_QUEUE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

/* Some drivers return no more than 32 frames at once: of fewer, none was left in the queue. */
#define SHORT_POLL 32

struct queue_hold {
    uint64_t since; /* 0: no frame waits because of a stall */
};

/* The loop was away, since `begin`. */
static inline void
queue_hold_begin(struct queue_hold *hold, uint64_t begin)
{
    if (hold->since == 0)
        hold->since = begin > 0 ? begin : 1;
}

/*
 * After the frames of a poll are counted. One with a stall in it (`stalled`) may have looked
 * into the queue before.
 */
static inline void
queue_hold_end_if_short(struct queue_hold *hold, uint32_t frames, bool stalled)
{
    if (frames < SHORT_POLL && !stalled)
        hold->since = 0;
}

/* How long a frame sent at `sent_at` can have waited when it was taken in at `received_at`. */
static inline uint64_t
queue_hold_of(const struct queue_hold *hold, uint64_t sent_at, uint64_t received_at)
{
    const uint64_t from = hold->since > sent_at ? hold->since : sent_at;

    return hold->since != 0 && received_at > from ? received_at - from : 0;
}

#endif
