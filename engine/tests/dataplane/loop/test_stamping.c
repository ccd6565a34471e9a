/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes between two simulated ports, each of which keeps one stamp each way until it is read, as
 * Intel's do. Their clocks are the TSC's, in ns at 1 GHz, so a stamp is when it was taken.
 */
#include "dataplane/loop/stamping.h"

#include <errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_time.h>

#include "unit_test.h"

#define TX_PORT 3
#define RX_PORT 5
#define TIMEOUT 1000000
#define STAMPED (RTE_MBUF_F_RX_IEEE1588_PTP | RTE_MBUF_F_RX_IEEE1588_TMST)

/* One of a port's two registers: empty, or a stamp that none replaces. */
struct stamp_register {
    bool full;
    uint64_t ns;
};

static struct stamp_register tx_register, rx_register;
/* Whose stamp the receiving port's register has. */
static uint64_t stamped_probe;
static struct port_clock clock_of_both;
static struct run run;
static struct worker worker;
static struct flight flight;
static struct stamping stamping;
static struct rx_queue queue;
static struct rte_mbuf mbuf;

static int
read_register(struct stamp_register *from, struct timespec *timestamp)
{
    if (!from->full)
        return -EINVAL;
    *timestamp = rte_ns_to_timespec(from->ns);
    from->full = false;
    return 0;
}

int
rte_eth_timesync_read_tx_timestamp(uint16_t port_id, struct timespec *timestamp)
{
    assert_int_equal(port_id, TX_PORT);
    return read_register(&tx_register, timestamp);
}

int
rte_eth_timesync_read_rx_timestamp(uint16_t port_id, struct timespec *timestamp, uint32_t flags)
{
    (void)flags;
    assert_int_equal(port_id, RX_PORT);
    return read_register(&rx_register, timestamp);
}

static void
stamp(struct stamp_register *into, uint64_t ns)
{
    if (into->full)
        return;
    into->full = true;
    into->ns = ns;
}

static void
departs(uint64_t ns)
{
    stamp(&tx_register, ns);
}

/* A probe reaches the receiving port, or another PTP frame does. */
static void
arrives(uint64_t number, uint64_t ns)
{
    stamped_probe = rx_register.full ? stamped_probe : number;
    stamp(&rx_register, ns);
}

static int
set_up(void **state)
{
    const struct clock_bracket first = {0, 0, 0}, second = {1000000, 1000000, 1000000};

    (void)state;
    tx_register.full = rx_register.full = false;
    clock_of_both = (struct port_clock){0};
    assert_int_equal(port_clock_compare(&clock_of_both, &first), 0);
    assert_int_equal(port_clock_compare(&clock_of_both, &second), 0);
    run.ns_per_tick = UINT64_C(1) << 32;
    worker.run = &run;
    worker.open_page = 0;
    flight = (struct flight){.timeout = TIMEOUT};
    memset(&stamping, 0, sizeof(stamping));
    stamping.tx_clock = stamping.rx_clock = &clock_of_both;
    stamping.tx_dpdk_port = TX_PORT;
    for (uint32_t i = 0; i < 2; i++) {
        histogram_clear(&stamping.pages[i].latency);
        worst_latencies_open(&stamping.pages[i].worst, 16, NO_SPIKE);
    }
    queue.dpdk_port = RX_PORT;
    queue.stamp_flag = 0;
    mbuf.ol_flags = 0;
    return 0;
}

static void
take_off(uint64_t number, uint64_t now)
{
    stamping_begin(&stamping);
    flight_probe_sent(&flight, number, now);
}

/* The port marks the frame that it stamped. */
static void
land(uint64_t number, uint64_t now)
{
    if (queue.stamp_flag == 0)
        mbuf.ol_flags = rx_register.full && stamped_probe == number ? STAMPED : 0;
    stamping_landed(&stamping, &flight, &queue, &mbuf, number, now);
    flight_land(&flight, number);
}

/* What the sending worker does in its turns. */
static void
look(uint64_t now)
{
    const bool in_flight = flight.in_flight;

    if (!stamping_tx_stamp_ready(&stamping, &flight, now))
        return;
    if (flight_look(&flight, now) != FLIGHT_TIMED_OUT && in_flight && !flight.in_flight)
        stamping_count(&worker, &stamping, &flight);
}

static void
assert_outcomes(uint64_t stamped, uint64_t no_tx, uint64_t no_rx, uint64_t unmatched)
{
    const uint64_t *outcomes = stamping.pages[0].outcomes;

    assert_int_equal(outcomes[PROBE_STAMPED], stamped);
    assert_int_equal(outcomes[PROBE_NO_TX_STAMP], no_tx);
    assert_int_equal(outcomes[PROBE_NO_RX_STAMP], no_rx);
    assert_int_equal(outcomes[PROBE_UNMATCHED], unmatched);
    assert_int_equal(stamping.pages[0].latency.count, stamped);
}

static void
a_probe_is_counted_once_both_stamps_are_there(void **state)
{
    (void)state;
    take_off(0, 2000000);
    look(2000001);
    assert_outcomes(0, 0, 0, 0);
    departs(2000700);
    arrives(0, 2004200);
    land(0, 2009000);
    look(2009100);
    assert_outcomes(1, 0, 0, 0);
    assert_false(flight.in_flight);
    assert_int_equal(stamping.pages[0].latency.min, 3500);
    assert_int_equal(stamping.pages[0].microseconds.frames[3], 1);
    assert_int_equal(stamping.pages[0].worst.count, 1);
    assert_int_equal(stamping.pages[0].worst.worst[0].latency, 3500);
}

static void
a_sender_that_looks_late_waits_for_the_ports_stamp(void **state)
{
    (void)state;
    take_off(0, 2000000);
    arrives(0, 2004200);
    land(0, 2009000);
    look(2009100);
    /* It is back, and its stamp of leaving is not there yet. */
    assert_true(flight.in_flight);
    assert_outcomes(0, 0, 0, 0);
    departs(2000700);
    look(2009200);
    assert_outcomes(1, 0, 0, 0);
}

static void
stamps_that_never_come_are_counted_once_the_probes_time_is_over(void **state)
{
    (void)state;
    take_off(0, 2000000);
    arrives(0, 2004200);
    land(0, 2009000);
    look(2000000 + TIMEOUT - 1);
    assert_outcomes(0, 0, 0, 0);
    look(2000000 + TIMEOUT);
    assert_outcomes(0, 1, 0, 0);
    take_off(1, 4000000);
    departs(4000700);
    land(1, 4009000);
    look(4009100);
    assert_outcomes(0, 1, 1, 0);
}

static void
a_lost_probes_stamps_are_none_of_the_next_ones(void **state)
{
    (void)state;
    take_off(0, 2000000);
    /* Its stamps are taken, both, and no worker sees the probe. */
    look(2000100);
    arrives(0, 2004200);
    look(2000000 + TIMEOUT);
    assert_false(flight.in_flight);
    departs(2000700);
    take_off(1, 4000000);
    /* The port had its register full, so it is the lost probe's stamp that is read of the next. */
    arrives(1, 4004200);
    departs(4000600);
    land(1, 4009000);
    look(4009100);
    assert_outcomes(0, 0, 1, 0);
    /* And with it gone the one after it has its own. */
    take_off(2, 5000000);
    departs(5000600);
    arrives(2, 5003600);
    land(2, 5009000);
    look(5009100);
    assert_outcomes(1, 0, 1, 0);
    assert_int_equal(stamping.pages[0].latency.min, 3000);
}

static void
a_stamp_outside_of_the_probes_time_is_not_its_own(void **state)
{
    (void)state;
    take_off(0, 2000000);
    departs(2000700);
    /* As of a port whose clock was set back meanwhile. */
    arrives(0, 1500000);
    land(0, 2009000);
    look(2009100);
    assert_outcomes(0, 0, 0, 1);
}

static void
a_given_up_probes_stamp_that_comes_late_is_left_for_the_next_ones(void **state)
{
    (void)state;
    take_off(0, 2000000);
    look(2000000 + TIMEOUT);
    take_off(1, 2000000 + TIMEOUT);
    departs(2000700);
    look(2000100 + TIMEOUT);
    assert_false(stamping.tx_stamp.taken);
    departs(2000700 + TIMEOUT);
    arrives(1, 2004200 + TIMEOUT);
    land(1, 2009000 + TIMEOUT);
    look(2009100 + TIMEOUT);
    assert_outcomes(1, 0, 0, 0);
    assert_int_equal(stamping.pages[0].latency.min, 3500);
}

static void
a_stamp_from_just_before_its_probe_is_not_matched(void **state)
{
    (void)state;
    take_off(0, 2000000);
    departs(1999000);
    arrives(0, 2004200);
    land(0, 2009000);
    look(2009100);
    assert_outcomes(0, 0, 0, 1);
}

static void
a_probe_that_comes_twice_changes_nothing(void **state)
{
    (void)state;
    take_off(0, 2000000);
    departs(2000700);
    arrives(0, 2004200);
    land(0, 2009000);
    arrives(0, 2005000);
    land(0, 2009500);
    assert_false(rx_register.full);
    look(2009600);
    assert_outcomes(1, 0, 0, 0);
    assert_int_equal(stamping.pages[0].latency.min, 3500);
}

static void
a_stamp_that_came_with_the_frame_is_taken_before_the_ports_register(void **state)
{
    (void)state;
    queue.stamp_offset = (int)RTE_ALIGN_CEIL(offsetof(struct rte_mbuf, dynfield1), 8);
    queue.stamp_flag = UINT64_C(1) << 40;
    mbuf.ol_flags = queue.stamp_flag;
    *RTE_MBUF_DYNFIELD(&mbuf, queue.stamp_offset, rte_mbuf_timestamp_t *) = 2002700;
    take_off(0, 2000000);
    departs(2000700);
    arrives(0, 2004200);
    land(0, 2009000);
    look(2009100);
    assert_outcomes(1, 0, 0, 0);
    assert_int_equal(stamping.pages[0].latency.min, 2000);
    assert_true(rx_register.full);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_probe_is_counted_once_both_stamps_are_there, set_up),
        cmocka_unit_test_setup(a_sender_that_looks_late_waits_for_the_ports_stamp, set_up),
        cmocka_unit_test_setup(stamps_that_never_come_are_counted_once_the_probes_time_is_over,
                               set_up),
        cmocka_unit_test_setup(a_lost_probes_stamps_are_none_of_the_next_ones, set_up),
        cmocka_unit_test_setup(a_stamp_outside_of_the_probes_time_is_not_its_own, set_up),
        cmocka_unit_test_setup(a_given_up_probes_stamp_that_comes_late_is_left_for_the_next_ones,
                               set_up),
        cmocka_unit_test_setup(a_stamp_from_just_before_its_probe_is_not_matched, set_up),
        cmocka_unit_test_setup(a_probe_that_comes_twice_changes_nothing, set_up),
        cmocka_unit_test_setup(a_stamp_that_came_with_the_frame_is_taken_before_the_ports_register,
                               set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
