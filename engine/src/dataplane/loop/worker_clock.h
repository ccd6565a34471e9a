/* SPDX-License-Identifier: Apache-2.0 */
/* A polling loop's look at the clock, by which it notices that it was away. */
#ifndef PLIMSOLL_WORKER_CLOCK_H
#define PLIMSOLL_WORKER_CLOCK_H

#include <rte_branch_prediction.h>
#include <rte_cycles.h>

#include "dataplane/loop/run.h"

/* Records a gap that was long enough to be worth it, and a stall if it was one. */
static inline void
note_gap(struct worker *worker, uint64_t now, uint64_t gap)
{
    struct stall_tally *tally = &worker->stalls[worker->open_page];

    histogram_record(&tally->gaps, ticks_to_ns(worker->run, gap));
    if (unlikely(gap >= worker->run->stall_ticks)) {
        stall_mark_set(&worker->stall_mark, now, gap);
        stall_tally_record(tally, (struct stall){.end = now, .length = gap});
    }
}

/*
 * Reads the clock and notes a stall since the last reading. It is read before every
 * burst, so that a turn full of bursts, which is work, is not taken for a stall, and
 * after a burst is received, so that a stall is known before its frames are judged.
 */
static inline uint64_t
look_at_clock(struct worker *worker)
{
    const uint64_t now = rte_rdtsc();
    const uint64_t gap = now - worker->last_look;

    worker->last_look = now;
    if (unlikely(gap >= worker->run->gap_ticks))
        note_gap(worker, now, gap);
    return now;
}

#endif
