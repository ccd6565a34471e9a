/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ports whose clocks were set going at different times and do not run at quite the same
 * rate; truth is computed in long double, not by the code under test.
 */
#include "dataplane/time/probe_stamps.h"

#include <math.h>

#include "seeded_random.h"
#include "unit_test.h"

#define TSC_HZ UINT64_C(2600000000)
#define TSC_BEGIN UINT64_C(1000000000000)

struct simulated_port {
    long double ns_begin;
    long double ns_per_tick;
    struct port_clock clock;
};

static struct simulated_port sender, receiver;

/* What the port's clock shows so many ticks after TSC_BEGIN. */
static uint64_t
shown(const struct simulated_port *port, uint64_t ticks)
{
    return (uint64_t)floorl(port->ns_begin + (long double)ticks * port->ns_per_tick);
}

/* A read that takes 2600 ticks, a microsecond, and looks at the clock after `wait` of them. */
static void
compare(struct simulated_port *port, uint64_t ticks, uint64_t wait)
{
    const struct clock_bracket bracket = {TSC_BEGIN + ticks, shown(port, ticks + wait),
                                          TSC_BEGIN + ticks + 2600};

    assert_int_equal(port_clock_compare(&port->clock, &bracket), 0);
}

static int
set_up(void **state)
{
    (void)state;
    /* One is 30 ppm fast and the other 50 ppm slow. */
    sender = (struct simulated_port){1e9L, 1.00003L / 2.6L, {0}};
    receiver = (struct simulated_port){77.5L, 0.99995L / 2.6L, {0}};
    for (uint32_t half = 0; half < 2; half++) {
        compare(&sender, half * TSC_HZ / 2, 900);
        compare(&receiver, half * TSC_HZ / 2 + 5000, 1700);
    }
    return 0;
}

/* Handed over, left, came and was taken at these ticks. */
static struct probe_stamps
probe_of(uint64_t sent, uint64_t left, uint64_t came, uint64_t received)
{
    return (struct probe_stamps){
        .sent_at = TSC_BEGIN + sent,
        .received_at = TSC_BEGIN + received,
        .tx = port_stamp_of(&sender.clock, shown(&sender, left)),
        .rx = port_stamp_of(&receiver.clock, shown(&receiver, came)),
    };
}

static void
latencies_are_within_the_stated_error(void **state)
{
    uint64_t random = 42;

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        const uint64_t left = TSC_HZ / 2 + random_below(&random, TSC_HZ);
        const uint64_t latency = 300 + random_below(&random, 1000000);
        const struct probe_stamps probe =
            probe_of(left - 2000, left, left + latency, left + latency + 4000);
        const uint64_t measured = probe_stamps_latency(&probe);
        const uint64_t error = probe_stamps_error(&probe);

        assert_int_equal(probe_stamps_judge(&probe), PROBE_STAMPED);
        assert_true(measured <= latency + error);
        assert_true(measured + error >= latency);
        /* Two clocks, each with its half-brackets of 1300 ticks five times, and roundings. */
        assert_true(error <= 2 * (5 * 1300 + 30));
    }
}

static void
a_stamp_that_never_came_is_not_made_up(void **state)
{
    const uint64_t at = TSC_HZ;
    struct probe_stamps probe = probe_of(at, at + 100, at + 5000, at + 9000);

    (void)state;
    probe.rx.taken = false;
    assert_int_equal(probe_stamps_judge(&probe), PROBE_NO_RX_STAMP);
    probe.tx.taken = false;
    assert_int_equal(probe_stamps_judge(&probe), PROBE_NO_TX_STAMP);
    probe.rx.taken = true;
    assert_int_equal(probe_stamps_judge(&probe), PROBE_NO_TX_STAMP);
}

static void
stamps_of_other_frames_are_not_matched(void **state)
{
    const uint64_t at = TSC_HZ, later = TSC_HZ / 100;

    (void)state;
    /* A frame that left, or came, before the probe was handed over; and one after it was taken. */
    const struct probe_stamps early_tx = probe_of(at, at - later, at + 5000, at + 9000);
    const struct probe_stamps early_rx = probe_of(at, at + 100, at - later, at + 9000);
    const struct probe_stamps late_rx = probe_of(at, at + 100, at + later, at + 9000);

    assert_true(port_stamp_is_earlier(&early_tx.tx, early_tx.sent_at));
    assert_int_equal(probe_stamps_judge(&early_tx), PROBE_UNMATCHED);
    assert_false(port_stamp_is_earlier(&early_rx.tx, early_rx.sent_at));
    assert_int_equal(probe_stamps_judge(&early_rx), PROBE_UNMATCHED);
    assert_int_equal(probe_stamps_judge(&late_rx), PROBE_UNMATCHED);
}

static void
a_latency_below_the_error_is_never_negative(void **state)
{
    const uint64_t at = TSC_HZ;
    struct probe_stamps probe = probe_of(at, at + 100, at + 100, at + 9000);

    (void)state;
    probe.rx.at = probe.tx.at - 1;
    assert_int_equal(probe_stamps_judge(&probe), PROBE_STAMPED);
    assert_int_equal(probe_stamps_latency(&probe), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(latencies_are_within_the_stated_error, set_up),
        cmocka_unit_test_setup(a_stamp_that_never_came_is_not_made_up, set_up),
        cmocka_unit_test_setup(stamps_of_other_frames_are_not_matched, set_up),
        cmocka_unit_test_setup(a_latency_below_the_error_is_never_negative, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
