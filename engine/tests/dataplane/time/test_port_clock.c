/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated clocks: the port's runs at a known rate from a known start, its reads
 * take a seeded time, and truth is computed in long double, not by the code under test.
 */
#include "dataplane/time/port_clock.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>

#include "seeded_random.h"
#include "unit_test.h"

#define TSC_HZ 2600000000.0L

struct simulation {
    uint64_t stamp_begin;
    uint64_t tsc_begin;
    long double stamps_per_tick;
};

/* The port's clock when so many ticks have passed. */
static uint64_t
stamp_at(const struct simulation *simulation, uint64_t ticks)
{
    return simulation->stamp_begin +
           (uint64_t)floorl((long double)ticks * simulation->stamps_per_tick);
}

/* A read at `ticks` that took `wait` ticks before the clock was looked at and `rest` after. */
static struct clock_bracket
read_at(const struct simulation *simulation, uint64_t ticks, uint64_t wait, uint64_t rest)
{
    return (struct clock_bracket){
        .tsc_before = simulation->tsc_begin + ticks,
        .stamp = stamp_at(simulation, ticks + wait),
        .tsc_after = simulation->tsc_begin + ticks + wait + rest,
    };
}

static void
compare(struct port_clock *clock, struct clock_bracket bracket)
{
    assert_int_equal(port_clock_compare(clock, &bracket), 0);
}

/* How far the mapping of the stamp taken at `ticks` is off, in ticks. */
static long double
error_at(const struct port_clock *clock, const struct simulation *simulation, uint64_t ticks)
{
    const uint64_t mapped = port_clock_to_tsc(clock, stamp_at(simulation, ticks));

    return fabsl((long double)(int64_t)(mapped - simulation->tsc_begin - ticks));
}

static void
the_tightest_bracket_is_chosen(void **state)
{
    const struct clock_bracket brackets[] = {
        {100, 1, 400}, {UINT64_MAX - 9, 2, 90}, {500, 3, 599}, {700, 4, 799}};

    (void)state;
    /* Of widths 300, 100, 99 and 99 the first of the shortest. */
    assert_int_equal(clock_bracket_tightest(brackets, 4), 2);
    assert_int_equal(clock_bracket_tightest(brackets, 2), 1);
    assert_int_equal(clock_bracket_tightest(brackets, 1), 0);
}

static void
exact_reads_of_a_nanosecond_clock_are_mapped_exactly(void **state)
{
    /* 5 ticks for every 2 ns. */
    const struct simulation simulation = {
        .stamp_begin = 7, .tsc_begin = 1000, .stamps_per_tick = 0.4L};
    struct port_clock clock = {0};

    (void)state;
    compare(&clock, read_at(&simulation, 0, 0, 0));
    compare(&clock, read_at(&simulation, 2500000000, 0, 0));
    assert_int_equal(port_clock_to_tsc(&clock, 7), 1000);
    assert_int_equal(port_clock_to_tsc(&clock, 7 + 2), 1005);
    assert_int_equal(port_clock_to_tsc(&clock, 7 + 1000000000), 1000 + 2500000000);
    assert_int_equal(port_clock_to_tsc(&clock, 7 + 2000000000), 1000 + 5000000000);
}

static void
both_clocks_may_wrap(void **state)
{
    const struct simulation simulation = {
        .stamp_begin = UINT64_MAX - 100, .tsc_begin = UINT64_MAX - 3000, .stamps_per_tick = 0.125L};
    struct port_clock clock = {0};

    (void)state;
    compare(&clock, read_at(&simulation, 0, 0, 0));
    compare(&clock, read_at(&simulation, 8000, 0, 0));
    for (uint64_t ticks = 0; ticks <= 16000; ticks += 800)
        assert_int_equal((uint64_t)error_at(&clock, &simulation, ticks), 0);
}

/* Clocks of many rates, read with delays that are never shared evenly around the look. */
static void
errors_stay_within_the_stated_bound(void **state)
{
    static const double hz[] = {1e6, 19.2e6, 156.25e6, 1e9, 1.000057e9, 3.2e9};
    uint64_t random = 11;

    (void)state;
    for (uint32_t i = 0; i < sizeof(hz) / sizeof(hz[0]); i++) {
        const struct simulation simulation = {.stamp_begin = random_next(&random),
                                              .tsc_begin = random_next(&random),
                                              .stamps_per_tick = (long double)hz[i] / TSC_HZ};
        struct port_clock clock = {0};
        uint64_t ticks = 0;

        for (uint32_t round = 0; round < 200; round++) {
            const bool early = random_below(&random, 2);
            const uint64_t wait = random_below(&random, 3000);

            compare(&clock, read_at(&simulation, ticks, early ? 0 : wait, early ? wait : 0));
            for (uint32_t probe = 0; round > 0 && probe < 20; probe++) {
                const uint64_t away = random_below(&random, (uint64_t)TSC_HZ);

                assert_true(error_at(&clock, &simulation, ticks + wait + away) <=
                            (long double)port_clock_error(&clock, wait + away));
            }
            ticks += (uint64_t)(TSC_HZ / 2) + random_below(&random, (uint64_t)TSC_HZ);
        }
    }
}

static void
the_bound_is_no_more_than_the_brackets_explain(void **state)
{
    const struct simulation simulation = {.stamps_per_tick = 1.0L / 2.6L};
    struct port_clock clock = {0};

    (void)state;
    compare(&clock, read_at(&simulation, 0, 100, 100));
    compare(&clock, read_at(&simulation, 2600000000, 150, 150));
    /* Half-widths 100 and 150, and a clock that shows ns, 2.6 ticks: 154 at the comparison… */
    assert_true(port_clock_error(&clock, 0) >= 150 && port_clock_error(&clock, 0) < 155);
    /* …and twice the newer's and once the older's an interval on. */
    assert_true(port_clock_error(&clock, 2600000000) >= 400 &&
                port_clock_error(&clock, 2600000000) < 412);
}

/* Drift: the port's crystal warms up by a tenth of a ppm between comparisons. */
static void
a_changing_rate_is_followed(void **state)
{
    const long double second = TSC_HZ;
    long double stamp = 5e9L, rate = 1e9L / TSC_HZ;
    struct port_clock clock = {0};

    (void)state;
    for (uint64_t round = 0; round < 100; round++) {
        const uint64_t tsc = 77 + round * (uint64_t)second;
        const struct clock_bracket bracket = {tsc - 50, (uint64_t)stamp, tsc + 50};

        if (round >= 2) {
            /* What a worker would have said just before: the rate was old by one step. */
            const uint64_t mapped = port_clock_to_tsc(&clock, (uint64_t)stamp);
            const long double off = fabsl((long double)(int64_t)(mapped - tsc));

            assert_true(off <=
                        (long double)port_clock_error(&clock, (uint64_t)second) + 1e-7L * second);
            assert_true(off > 0.5e-7L * second);
        }
        compare(&clock, bracket);
        rate *= 1 + 1e-7L;
        stamp += rate * second;
    }
}

static void
a_clock_that_stands_or_goes_back_leaves_the_line_as_it_was(void **state)
{
    const struct clock_bracket good[] = {{100, 1000, 100}, {1100, 2000, 1100}};
    const struct clock_bracket bad[] = {
        {2100, 2000, 2100},                               /* the port's clock stands */
        {2100, 1999, 2100},                               /* it goes back */
        {1100, 3000, 1100},                               /* the TSC stands */
        {1099, 3000, 1099},                               /* it goes back */
        {1100 + (1ull << 32), 2255, 1100 + (1ull << 32)}, /* 2^24 times as slow */
    };
    struct port_clock clock = {0};

    (void)state;
    compare(&clock, good[0]);
    compare(&clock, good[1]);
    for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(port_clock_compare(&clock, &bad[i]), -ERANGE);
        assert_int_equal(port_clock_to_tsc(&clock, 5000), 4100);
    }
}

#define LINES 200000

/* Comparisons that all lie on one line, so that a mixture of two would show. */
static void *
write_lines(void *context)
{
    struct port_clock *clock = context;
    uint64_t failed = 0;

    for (uint64_t i = 0; i < LINES; i++) {
        const uint64_t stamp = 1000 * (i + 2), tsc = 3000 * (i + 2);
        const struct clock_bracket bracket = {tsc, stamp, tsc};

        failed += port_clock_compare(clock, &bracket) != 0;
    }
    return (void *)(uintptr_t)failed;
}

static void
a_reader_never_sees_half_a_line(void **state)
{
    struct port_clock clock = {0};
    pthread_t writer;
    void *failed = NULL;

    (void)state;
    compare(&clock, (struct clock_bracket){0, 0, 0});
    compare(&clock, (struct clock_bracket){3000, 1000, 3000});
    assert_int_equal(pthread_create(&writer, NULL, write_lines, &clock), 0);
    for (uint64_t stamp = 0; stamp < 4000000; stamp++)
        assert_int_equal(port_clock_to_tsc(&clock, stamp), 3 * stamp);
    assert_int_equal(pthread_join(writer, &failed), 0);
    assert_null(failed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tightest_bracket_is_chosen),
        cmocka_unit_test(exact_reads_of_a_nanosecond_clock_are_mapped_exactly),
        cmocka_unit_test(both_clocks_may_wrap),
        cmocka_unit_test(errors_stay_within_the_stated_bound),
        cmocka_unit_test(the_bound_is_no_more_than_the_brackets_explain),
        cmocka_unit_test(a_changing_rate_is_followed),
        cmocka_unit_test(a_clock_that_stands_or_goes_back_leaves_the_line_as_it_was),
        cmocka_unit_test(a_reader_never_sees_half_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
