/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Poisson process: exponential gaps that know nothing of each other. The bounds are four
 * standard deviations or more; the seeds are fixed, so a test that passes keeps passing.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "paced_streams.h"

#define GAPS 200000

static const struct rate slow = {1000, 1};
static const uint64_t hz = 2600000000;

static struct pacer
poisson(struct rate rate, uint64_t ticks_per_second, uint64_t seed, uint64_t patience)
{
    return pacer_of((struct pacing){.kind = PACING_POISSON, .seed = seed}, rate, ticks_per_second,
                    patience);
}

/* Gaps in mean gaps; the first is the one from the start to the first frame. */
static void
measure_gaps(uint64_t seed, double *gaps)
{
    struct pacer pacer = poisson(slow, hz, seed, 0);
    uint64_t last = START;

    for (uint32_t i = 0; i < GAPS; i++) {
        const uint64_t due = take_one(&pacer);

        gaps[i] = (double)(due - last) * 1000 / (double)hz;
        last = due;
    }
}

static int
ascending(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

/* Kolmogorov and Smirnov: the greatest distance of the empirical CDF from 1 - e^-x. */
static double
distance_from_exponential(double *gaps)
{
    double most = 0;

    qsort(gaps, GAPS, sizeof(gaps[0]), ascending);
    for (uint32_t i = 0; i < GAPS; i++) {
        const double ideal = -expm1(-gaps[i]);

        most = fmax(most, fmax(ideal - (double)i / GAPS, (double)(i + 1) / GAPS - ideal));
    }
    return most;
}

/* At 1.95 / sqrt(n) one seed in a thousand is off. */
static void
gaps_are_exponentially_distributed(void **state)
{
    static double gaps[GAPS];

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        measure_gaps(seed, gaps);
        assert_true(distance_from_exponential(gaps) < 1.95 / sqrt(GAPS));
    }
}

/* The mean and the standard deviation are both one mean gap. */
static void
gaps_have_the_mean_and_the_spread_of_their_rate(void **state)
{
    static double gaps[GAPS];
    double sum = 0, squares = 0;

    (void)state;
    measure_gaps(1, gaps);
    for (uint32_t i = 0; i < GAPS; i++) {
        sum += gaps[i];
        squares += gaps[i] * gaps[i];
    }
    assert_true(fabs(sum / GAPS - 1) < 4 / sqrt(GAPS));
    assert_true(fabs(squares / GAPS - 2) < 4 * sqrt(20.0 / GAPS)); /* E x^4 - (E x^2)^2 is 20 */
}

/* Products of neighbours, at any distance up to 100, are one on average as well. */
static void
gaps_know_nothing_of_each_other(void **state)
{
    static double gaps[GAPS];

    (void)state;
    measure_gaps(2, gaps);
    for (uint32_t distance = 1; distance <= 100; distance++) {
        double sum = 0;

        for (uint32_t i = 0; i + distance < GAPS; i++)
            sum += (gaps[i] - 1) * (gaps[i + distance] - 1);
        assert_true(fabs(sum / (GAPS - distance)) < 4.5 / sqrt(GAPS - distance));
    }
}

/* Frames in windows of ten mean gaps: their variance is their mean. */
static void
windows_hold_as_many_frames_as_chance_puts_there(void **state)
{
    struct pacer pacer = poisson(slow, hz, 3, 0);
    const uint32_t windows = 20000;
    double sum = 0, squares = 0;
    uint64_t due;

    (void)state;
    for (uint64_t window = 1; window <= windows; window++) {
        uint32_t frames = 0, taken;

        while ((taken = pacer_take(&pacer, START + window * hz / 100, 64, &due)) > 0)
            frames += taken;
        sum += frames;
        squares += (double)frames * frames;
    }
    const double mean = sum / windows, variance = squares / windows - mean * mean;
    assert_true(fabs(mean - 10) < 4 * sqrt(10.0 / windows));
    assert_true(fabs(variance / mean - 1) < 4 * sqrt(2.0 / windows));
}

/* -ln(u) at the middle of 2^20 equal parts of the range of u. */
static void
the_inverse_cdf_is_a_logarithm(void **state)
{
    const uint32_t parts = 1 << 20;
    long double sum = 0;

    (void)state;
    for (uint64_t part = 0; part < parts; part++) {
        const double gap = pacer_exponential(part << 44 | UINT64_C(1) << 43);
        const long double ideal = -logl((long double)(2 * part + 1) / (2 * parts));

        assert_true(fabsl(gap - ideal) <= 0x1p-30L * ideal + 0x1p-50L);
        sum += gap;
    }
    /* The midpoint rule's own error is ln 2 / (2 * parts). */
    assert_true(fabsl(sum / parts - 1) < 0x1p-21L);
    assert_true(pacer_exponential(0) > 36.7 && pacer_exponential(0) < 36.8);
    assert_true(pacer_exponential(UINT64_MAX) > 0);
    assert_true(pacer_exponential(UINT64_MAX) < 0x1p-52);
}

static void
the_seed_decides_the_schedule(void **state)
{
    struct pacer one = poisson(slow, hz, 1, 0), same = poisson(slow, hz, 1, 0);
    struct pacer other = poisson(slow, hz, 2, 0);
    uint32_t alike = 0;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t due = take_one(&one);

        assert_int_equal(take_one(&same), due);
        alike += take_one(&other) == due;
    }
    assert_int_equal(alike, 0);
}

/* Taken or skipped, one by one or many at once: frame n is due when it is due. */
static void
every_frame_is_taken_or_skipped_once(void **state)
{
    static uint64_t times[20064];
    struct pacer ideal = poisson(slow, hz, 4, 0);
    const uint64_t gap = 2600000;
    struct pacer pacer = poisson(slow, hz, 4, 5 * gap);
    uint64_t seed = 5, now = START, number = 0, skipped_in_all = 0, first;

    (void)state;
    for (uint32_t i = 0; i < 20064; i++)
        times[i] = take_one(&ideal);
    while (number < 19000) {
        const uint64_t skipped = pacer_skip_late(&pacer, now);

        for (uint64_t i = number; i < number + skipped; i++)
            assert_true(times[i] + 5 * gap < now);
        number += skipped;
        skipped_in_all += skipped;
        const uint32_t taken = pacer_take(&pacer, now, 64, &first);

        assert_int_equal(first, times[number]);
        if (taken > 0)
            assert_uint_in_range(times[number + taken - 1], now - 5 * gap, now);
        number += taken;
        if (taken < 64)
            assert_true(times[number] > now);
        now += 1 + random_below(&seed, random_below(&seed, 100) ? gap : 50 * gap);
    }
    assert_uint_in_range(skipped_in_all, 1, 10000);
}

/* A mean gap of one tick, and one of 2^38.9 ticks at the end of a week. */
static void
the_extremes_are_in_range(void **state)
{
    struct pacer fast = poisson((struct rate){1000000000, 1}, 1000000000, 6, 0);
    struct pacer slowest = poisson((struct rate){1, 100}, 5000000000, 7, 0);
    const uint64_t end = START + WEEK * 5000000000;
    uint64_t due;

    (void)state;
    /* 10^7 frames, 4 * sqrt(10^7) is 12649. */
    assert_uint_in_range(go_to(&fast, START + 10000000), 10000000 - 12649, 10000000 + 12649);
    /* 6048 frames, 4 * sqrt(6048) is 311. */
    assert_uint_in_range(go_to(&slowest, end), 6048 - 311, 6048 + 311);
    assert_uint_in_range(pacer_due(&slowest), end, end + 37 * UINT64_C(500000000000));
    assert_int_equal(pacer_take(&slowest, end - 1, 64, &due), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_exponentially_distributed),
        cmocka_unit_test(gaps_have_the_mean_and_the_spread_of_their_rate),
        cmocka_unit_test(gaps_know_nothing_of_each_other),
        cmocka_unit_test(windows_hold_as_many_frames_as_chance_puts_there),
        cmocka_unit_test(the_inverse_cdf_is_a_logarithm),
        cmocka_unit_test(the_seed_decides_the_schedule),
        cmocka_unit_test(every_frame_is_taken_or_skipped_once),
        cmocka_unit_test(the_extremes_are_in_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
