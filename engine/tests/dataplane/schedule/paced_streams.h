/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules for tests, and when their frames ought to be due, by whole numbers. */
#ifndef PLIMSOLL_PACED_STREAMS_H
#define PLIMSOLL_PACED_STREAMS_H

#include "dataplane/schedule/pacer.h"
#include "seeded_random.h"
#include "unit_test.h"

#define START UINT64_C(123456789012345)
#define WEEK UINT64_C(604800)

/* A rate as a fraction, so that what a frame's time ought to be is exact: 10^-2 to 10^9 pps. */
struct rate {
    uint64_t frames;
    uint64_t seconds;
};

static const struct rate rates[] = {
    {1, 100},      {1, 7},        {1, 1},        {3, 1},         {7, 1},         {700, 1},
    {1000, 1},     {2999, 1},     {33333, 1},    {1000000, 3},   {500000, 1},    {700001, 1},
    {1000000, 1},  {1488095, 1},  {2500000, 7},  {9999991, 1},   {14880952, 1},  {29761904, 1},
    {33000000, 1}, {59523809, 1}, {99999989, 1}, {100000000, 1}, {999999937, 1}, {1000000000, 1},
};
static const uint64_t clocks[] = {1000000000, 2100000000, 2595124000,
                                  2600000000, 4999999937, 5000000000};

#define RATES (sizeof(rates) / sizeof(rates[0]))
#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

static inline struct pacer
pacer_of(struct pacing pacing, struct rate rate, uint64_t hz, uint64_t patience)
{
    struct pacer pacer;

    pacing.rate_pps = (double)rate.frames / (double)rate.seconds;
    pacer_start(&pacer, &pacing, START, (double)hz, patience);
    return pacer;
}

/* The tick at or after frame n's own time. */
static inline uint64_t
exact_tick(struct rate rate, uint64_t hz, uint64_t number)
{
    const unsigned __int128 ticks = (unsigned __int128)number * hz * rate.seconds;

    return START + (uint64_t)((ticks + rate.frames - 1) / rate.frames);
}

/*
 * Is that when frame `number` ought to be due? A gap is rounded up by less than 2^-64
 * ticks, which may take a frame over the end of its tick; a rate of several seconds is no
 * double, and the nearest one may take it back over the start.
 */
static inline void
assert_due(uint64_t due, struct rate rate, uint64_t hz, uint64_t number)
{
    const uint64_t exact = exact_tick(rate, hz, number);

    assert_uint_in_range(due, exact - (rate.seconds > 1), exact + 1);
}

/* Takes one frame, at its own time, and returns when that is. */
static inline uint64_t
take_one(struct pacer *pacer)
{
    uint64_t due;

    assert_int_equal(pacer_take(pacer, pacer_due(pacer), 1, &due), 1);
    return due;
}

/* Goes on to a time as a worker does that was away: all frames due before it are skipped. */
static inline uint64_t
go_to(struct pacer *pacer, uint64_t tick)
{
    return pacer_skip_late(pacer, tick + pacer->patience);
}

#endif
