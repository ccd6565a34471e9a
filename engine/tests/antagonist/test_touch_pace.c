/* SPDX-License-Identifier: Apache-2.0 */
#include "antagonist/touch_pace.h"

#include "unit_test.h"

static void
without_a_rate_nothing_waits(void **state)
{
    (void)state;
    assert_int_equal(touch_wait_ns(UINT64_C(1) << 50, 0, 0), 0);
}

static void
bytes_wait_until_they_are_due(void **state)
{
    (void)state;
    /* A million bytes at 1 GB/s are due after 1 ms. */
    assert_int_equal(touch_wait_ns(1000000, 1000000000, 0), 1000000);
    assert_int_equal(touch_wait_ns(1000000, 1000000000, 400000), 600000);
    assert_int_equal(touch_wait_ns(1000000, 1000000000, 1000000), 0);
    assert_int_equal(touch_wait_ns(1000000, 1000000000, 2000000), 0);
}

static void
a_week_of_bytes_does_not_overflow(void **state)
{
    const uint64_t week_s = 604800, rate = UINT64_C(100000000000);

    (void)state;
    assert_int_equal(touch_wait_ns(rate * week_s, rate, (week_s - 1) * UINT64_C(1000000000)),
                     UINT64_C(1000000000));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_rate_nothing_waits),
        cmocka_unit_test(bytes_wait_until_they_are_due),
        cmocka_unit_test(a_week_of_bytes_does_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
