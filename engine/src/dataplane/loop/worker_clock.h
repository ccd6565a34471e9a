/* SPDX-License-Identifier: Apache-2.0 */
/* A polling loop's look at the clock, by which it notices that it was away. */
#ifndef PLIMSOLL_WORKER_CLOCK_H
#define PLIMSOLL_WORKER_CLOCK_H

#include <rte_branch_prediction.h>
#include <rte_cycles.h>

#include "dataplane/loop/run.h"

/* When the loop last looked; others may ask it of a sender. */
static inline uint64_t
last_look(const struct worker *worker)
{
    return atomic_load_explicit(&worker->last_look, memory_order_relaxed);
}

/* Frames wait in its queues, and of one that sends what becomes due is overdue. */
static inline void
note_stall(struct worker *worker, uint64_t now, uint64_t length)
{
    const uint64_t begin = now - length;

    stall_tally_record(&worker->stalls[worker->open_page],
                       (struct stall){.end = now, .length = length});
    for (uint32_t i = 0; i < worker->rx_queue_count; i++)
        queue_hold_begin(&worker->rx_queues[i].hold, begin);
    if (worker->stall_ring.capacity == 0)
        return;
    stall_ring_note(&worker->stall_ring, begin, now);
    overdue_begin(&worker->overdue, now, worker->turn);
}

/* Records a gap that was long enough to be worth it, and a stall if it was one. */
static inline void
note_gap(struct worker *worker, uint64_t now, uint64_t gap)
{
    histogram_record(&worker->stalls[worker->open_page].gaps, ticks_to_ns(worker->run, gap));
    if (unlikely(gap >= worker->run->stall_ticks))
        note_stall(worker, now, gap);
}

/*
 * Reads the clock and notes a stall since the last reading. It is read before every
 * burst, so that a turn full of bursts, which is work, is not taken for a stall, and
 * after a burst is received, so that a stall is known before its frames are judged.
 * Whoever sees the new reading also sees the stall.
 */
static inline uint64_t
look_at_clock(struct worker *worker)
{
    const uint64_t now = rte_rdtsc();
    const uint64_t gap = now - last_look(worker);

    if (unlikely(gap >= worker->run->gap_ticks))
        note_gap(worker, now, gap);
    atomic_store_explicit(&worker->last_look, now, memory_order_release);
    return now;
}

#endif
