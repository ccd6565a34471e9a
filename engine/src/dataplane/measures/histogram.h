/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log-linear histogram of nanoseconds in the buckets of HdrHistogram(1, 2^37 - 1, 2).
 *
 * Two significant digits need sub-buckets finer than 1/100 of a value; the next
 * power of two is 128 per octave, hence 256 sub-buckets of which all but the first
 * octave use the upper half. A value v of b bits (b > 8) is counted with its lowest
 * b - 8 bits dropped: the bucket is 2^(b-8) wide and v is at least 2^(b-1), so the
 * error is below 2^(b-8) / 2^(b-1) = 1/128 = 0.78 %. Values below 256 ns are exact.
 *
 * 37 bits reach 137 s. Larger values go into the last bucket; count, sum, min and
 * max stay exact for them too.
 */
#ifndef PLIMSOLL_HISTOGRAM_H
#define PLIMSOLL_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_HALF 128
#define HISTOGRAM_VALUE_BITS 37
#define HISTOGRAM_HIGHEST ((UINT64_C(1) << HISTOGRAM_VALUE_BITS) - 1)
#define HISTOGRAM_BUCKETS (HISTOGRAM_HALF * (HISTOGRAM_VALUE_BITS - 8 + 2))

struct histogram {
    uint64_t count;
    uint64_t sum;
    uint64_t min; /* UINT64_MAX when empty */
    uint64_t max;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

static inline uint32_t
histogram_index(uint64_t value)
{
    const uint64_t bounded = value < HISTOGRAM_HIGHEST ? value : HISTOGRAM_HIGHEST;
    /* Bits above the eight that are kept; OR-ing 255 gives small values shift 0. */
    const uint32_t shift = 56 - (uint32_t)__builtin_clzll(bounded | 255);

    return shift * HISTOGRAM_HALF + (uint32_t)(bounded >> shift);
}

/* Records `value` as often as it came. */
static inline void
histogram_record_many(struct histogram *histogram, uint64_t value, uint64_t times)
{
    histogram->count += times;
    histogram->sum += value * times;
    histogram->min = value < histogram->min ? value : histogram->min;
    histogram->max = value > histogram->max ? value : histogram->max;
    histogram->buckets[histogram_index(value)] += times;
}

static inline void
histogram_record(struct histogram *histogram, uint64_t value)
{
    histogram_record_many(histogram, value, 1);
}

void histogram_clear(struct histogram *histogram);

/* Adds `from` to `into`; exact. */
void histogram_add(struct histogram *into, const struct histogram *from);

#endif
