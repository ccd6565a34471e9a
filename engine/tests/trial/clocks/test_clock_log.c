/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/clocks/clock_log.h"

#include "unit_test.h"

/* A log of `offered` readings at 0, 1, 2, …, the first and the last included. */
static struct clock_log
log_of(uint64_t offered)
{
    struct clock_log log;

    clock_log_begin(&log, (struct clock_reading){.tsc = 0});
    for (uint64_t i = 1; i + 1 < offered; i++)
        clock_log_offer(&log, (struct clock_reading){.tsc = i});
    clock_log_end(&log, (struct clock_reading){.tsc = offered - 1});
    return log;
}

static void
few_readings_are_all_kept(void **state)
{
    (void)state;
    for (uint64_t offered = 2; offered <= CLOCK_LOG_MAX; offered++) {
        const struct clock_log log = log_of(offered);

        assert_int_equal(log.count, offered);
        for (uint32_t i = 0; i < log.count; i++)
            assert_int_equal(log.reading[i].tsc, i);
    }
}

static void
many_are_thinned_evenly_with_the_first_and_the_last(void **state)
{
    const uint64_t lengths[] = {65, 66, 127, 128, 129, 1000, 4096, 86400};

    (void)state;
    for (uint32_t n = 0; n < sizeof(lengths) / sizeof(lengths[0]); n++) {
        const struct clock_log log = log_of(lengths[n]);
        const uint64_t step = log.reading[1].tsc;

        assert_uint_in_range(log.count, CLOCK_LOG_MAX / 2, CLOCK_LOG_MAX);
        for (uint32_t i = 0; i + 1 < log.count; i++)
            assert_int_equal(log.reading[i].tsc, i * step);
        assert_int_equal(log.reading[log.count - 1].tsc, lengths[n] - 1);
        assert_uint_in_range(lengths[n] - 1 - log.reading[log.count - 2].tsc, 1, step);
    }
}

/* By hand: 63 places, so at the 64th of an hour's 3600 seconds only each second stays, … */
static void
an_hour_of_seconds_is_kept_by_the_64(void **state)
{
    const struct clock_log log = log_of(3601);

    (void)state;
    assert_int_equal(log.step, 64);
    /* 0, 64, …, 3584, and the end at 3600. */
    assert_int_equal(log.count, 58);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_readings_are_all_kept),
        cmocka_unit_test(many_are_thinned_evenly_with_the_first_and_the_last),
        cmocka_unit_test(an_hour_of_seconds_is_kept_by_the_64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
