/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each frame of a stream is due, in TSC ticks: frame n at start + n * gap.
 *
 * The gap is fixed-point with 24 fractional bits: at 30 Mpps and 2.6 GHz the rate is
 * off by less than 1 in 10^9, and n * gap, taken from the start each time, does not
 * drift. Gaps reach 2^40 ticks: over 200 s at 5 GHz. Gaps and times are rounded up, so
 * that a trial of d seconds never has a frame more than its rate times d.
 */
#ifndef PLIMSOLL_PACER_H
#define PLIMSOLL_PACER_H

#include <math.h>
#include <stdint.h>

#define PACER_FRACTION_BITS 24
#define PACER_ONE (UINT64_C(1) << PACER_FRACTION_BITS)

struct pacer {
    uint64_t start;
    uint64_t gap;      /* ticks << PACER_FRACTION_BITS */
    double per_tick;   /* frames */
    uint64_t next;     /* number of the next frame in the schedule */
    uint64_t patience; /* ticks a frame may be late before it is skipped */
};

static inline void
pacer_start(struct pacer *pacer, uint64_t start, double ticks_per_frame, uint64_t patience)
{
    pacer->start = start;
    pacer->gap = (uint64_t)ceil(ticks_per_frame * PACER_ONE);
    pacer->per_tick = (double)PACER_ONE / (double)pacer->gap;
    pacer->next = 0;
    pacer->patience = patience;
}

/* When frame `number` is due: the first tick not before its time. */
static inline uint64_t
pacer_due_at(const struct pacer *pacer, uint64_t number)
{
    const unsigned __int128 time = (unsigned __int128)number * pacer->gap;

    return pacer->start + (uint64_t)((time + PACER_ONE - 1) >> PACER_FRACTION_BITS);
}

/* How many frames are due at `now` and not yet taken, at most `most`. */
static inline uint32_t
pacer_due(const struct pacer *pacer, uint64_t now, uint32_t most)
{
    const uint64_t first = pacer_due_at(pacer, pacer->next);

    if (now < first)
        return 0;
    const double due = (double)(now - first) * pacer->per_tick + 1;
    return due < most ? (uint32_t)due : most;
}

/*
 * Skips frames that are late beyond patience and returns how many: sending them now
 * would be a burst the DUT was not meant to get.
 */
static inline uint64_t
pacer_skip_late(struct pacer *pacer, uint64_t now)
{
    const uint64_t late = now - pacer_due_at(pacer, pacer->next);

    if ((int64_t)late <= (int64_t)pacer->patience)
        return 0;
    /* The frame that is late by exactly the patience is the first to stay. */
    const uint64_t beyond = late - pacer->patience - 1;
    const uint64_t skipped = (uint64_t)((double)beyond * pacer->per_tick) + 1;
    pacer->next += skipped;
    return skipped;
}

#endif
