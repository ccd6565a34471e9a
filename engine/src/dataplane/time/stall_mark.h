/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's last stall, kept for those who judge whether it made a frame look slow.
 * The worker alone writes it; the receivers of the frames that it sends read it too.
 */
#ifndef PLIMSOLL_STALL_MARK_H
#define PLIMSOLL_STALL_MARK_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct stall_mark {
    alignas(64) _Atomic uint64_t end; /* TSC */
    _Atomic uint64_t length;          /* ticks */
};

/*
 * Marks a stall that ended at `now`. One that is shorter than the marked one and follows
 * it closely, while the backlog of the longer one is still being taken in, moves the
 * mark's end but not its length: frames of that backlog were held up by the longer one.
 */
static inline void
stall_mark_set(struct stall_mark *mark, uint64_t now, uint64_t length)
{
    const uint64_t marked = atomic_load_explicit(&mark->length, memory_order_relaxed);
    const uint64_t marked_end = atomic_load_explicit(&mark->end, memory_order_relaxed);
    const bool follows = now - length - marked_end < marked;

    atomic_store_explicit(&mark->end, now, memory_order_relaxed);
    atomic_store_explicit(&mark->length, follows && marked > length ? marked : length,
                          memory_order_relaxed);
}

/*
 * Whether the stall may have made a frame look slow: the frame was under way when the
 * stall ended, and the stall is long enough to matter, an eighth of the latency.
 */
static inline bool
stall_mark_touches(const struct stall_mark *mark, uint64_t sent_at, uint64_t latency)
{
    return sent_at < atomic_load_explicit(&mark->end, memory_order_relaxed) &&
           atomic_load_explicit(&mark->length, memory_order_relaxed) * 8 >= latency;
}

#endif
