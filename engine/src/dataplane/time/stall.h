/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A polling loop's own account of the time it was away: it looks at the clock before
 * every burst, and a gap longer than the threshold is a stall. Times are TSC
 * ticks. The loop alone writes; totals pass to the main thread with the books.
 */
#ifndef PLIMSOLL_STALL_H
#define PLIMSOLL_STALL_H

#include <stdint.h>

#include "dataplane/measures/histogram.h"

/* As many as the trial's result lists; an interval event lists as many as the request says. */
#define STALL_LONGEST_MAX 64

struct stall {
    uint64_t end;
    uint64_t length;
};

struct stall_tally {
    uint64_t polls;
    uint64_t idle_polls;
    uint64_t stalls;
    uint64_t stalled; /* ticks */
    uint64_t worst;   /* ticks */
    uint32_t longest_count;
    struct stall longest[STALL_LONGEST_MAX]; /* unordered */
    struct histogram gaps;                   /* ns, work included, from run.gap_ticks on */
};

/* Forgets all. */
void stall_tally_clear(struct stall_tally *tally);

/* Adds one stall, forgetting the shortest when the list is full. */
void stall_tally_record(struct stall_tally *tally, struct stall stall);

/* Adds `from` to `into`, keeping the longest stalls of both. */
void stall_tally_add(struct stall_tally *into, const struct stall_tally *from);

/* Orders the list, longest first. */
void stall_tally_sort(struct stall_tally *tally);

#endif
