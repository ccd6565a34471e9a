/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/schedule/flight.h"

#include "unit_test.h"

static void
the_next_is_due_when_the_last_came_back(void **state)
{
    struct flight flight = {.timeout = 100};

    (void)state;
    assert_int_equal(flight_look(&flight, 1000), FLIGHT_DUE);
    flight_probe_sent(&flight, 0, 1000);
    assert_int_equal(flight_look(&flight, 1010), FLIGHT_WAITING);
    flight_land(&flight, 0);
    assert_int_equal(flight_look(&flight, 1020), FLIGHT_DUE);
    flight_probe_sent(&flight, 1, 1020);
    assert_int_equal(flight_look(&flight, 1030), FLIGHT_WAITING);
}

static void
one_that_does_not_come_is_given_up_once(void **state)
{
    struct flight flight = {.timeout = 100};

    (void)state;
    flight_probe_sent(&flight, 0, 1000);
    assert_int_equal(flight_look(&flight, 1099), FLIGHT_WAITING);
    assert_int_equal(flight_look(&flight, 1100), FLIGHT_TIMED_OUT);
    assert_int_equal(flight_look(&flight, 1100), FLIGHT_DUE);
}

/* The one that was given up lands while the next is in flight, which goes on. */
static void
one_that_comes_late_does_not_land_the_next(void **state)
{
    struct flight flight = {.timeout = 100};

    (void)state;
    flight_probe_sent(&flight, 0, 1000);
    assert_int_equal(flight_look(&flight, 1100), FLIGHT_TIMED_OUT);
    flight_probe_sent(&flight, 1, 1100);
    flight_land(&flight, 0);
    assert_int_equal(flight_look(&flight, 1150), FLIGHT_WAITING);
    flight_land(&flight, 1);
    flight_land(&flight, 0); /* a duplicate */
    assert_int_equal(flight_look(&flight, 1160), FLIGHT_DUE);
}

/* The probe in flight comes back all the same. */
static void
a_paused_flight_has_nothing_due(void **state)
{
    struct flight flight = {.timeout = 100, .gap = 500};

    (void)state;
    flight_probe_sent(&flight, 0, 1000);
    flight_pause(&flight);
    flight_land(&flight, 0);
    assert_int_equal(flight_look(&flight, 2000000), FLIGHT_WAITING);
    flight_set_gap(&flight, 700);
    assert_int_equal(flight_look(&flight, 1699), FLIGHT_WAITING);
    assert_int_equal(flight_look(&flight, 1700), FLIGHT_DUE);
}

static void
a_new_rate_changes_the_gap_under_way(void **state)
{
    struct flight flight = {.timeout = 100, .gap = 500, .next_at = 1000};

    (void)state;
    flight_probe_sent(&flight, 0, 1000);
    flight_land(&flight, 0);
    flight_set_gap(&flight, 50);
    assert_int_equal(flight_look(&flight, 1049), FLIGHT_WAITING);
    assert_int_equal(flight_look(&flight, 1050), FLIGHT_DUE);
    flight_probe_sent(&flight, 1, 1050);
    assert_int_equal(flight.next_at, 1100);
}

/* While it waits for room in the port, it goes on waiting. */
static void
a_new_rate_does_not_end_a_hold(void **state)
{
    struct flight flight = {.timeout = 100, .gap = 500};

    (void)state;
    flight_hold(&flight, 1000);
    flight_set_gap(&flight, 50);
    assert_int_equal(flight_look(&flight, 1099), FLIGHT_WAITING);
    assert_int_equal(flight_look(&flight, 1100), FLIGHT_DUE);
}

static void
a_rate_keeps_probes_apart(void **state)
{
    struct flight flight = {.timeout = 100, .gap = 500, .next_at = 1000};

    (void)state;
    assert_int_equal(flight_look(&flight, 999), FLIGHT_WAITING);
    assert_int_equal(flight_look(&flight, 1000), FLIGHT_DUE);
    flight_probe_sent(&flight, 0, 1000);
    flight_land(&flight, 0);
    assert_int_equal(flight_look(&flight, 1499), FLIGHT_WAITING);
    assert_int_equal(flight_look(&flight, 1500), FLIGHT_DUE);
}

static void
a_port_without_room_is_tried_again_after_the_time_out(void **state)
{
    struct flight flight = {.timeout = 100};

    (void)state;
    flight_hold(&flight, 1000);
    assert_int_equal(flight_look(&flight, 1099), FLIGHT_WAITING);
    assert_int_equal(flight_look(&flight, 1100), FLIGHT_DUE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_is_due_when_the_last_came_back),
        cmocka_unit_test(one_that_does_not_come_is_given_up_once),
        cmocka_unit_test(one_that_comes_late_does_not_land_the_next),
        cmocka_unit_test(a_paused_flight_has_nothing_due),
        cmocka_unit_test(a_new_rate_changes_the_gap_under_way),
        cmocka_unit_test(a_new_rate_does_not_end_a_hold),
        cmocka_unit_test(a_rate_keeps_probes_apart),
        cmocka_unit_test(a_port_without_room_is_tried_again_after_the_time_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
