/* SPDX-License-Identifier: Apache-2.0 */
/* Which streams their ports may stamp: what a port has room for, and what it was opened for. */
#include "request_reading.h"

#define STREAM(number, role, tx, rx, pacing)                                                       \
    "{\"stream\":" number ",\"role\":\"" role "\",\"tx_port\":" tx ",\"rx_port\":" rx              \
    ",\"stamps\":\"timesync\",\"rate_pps\":10,\"pacing\":" pacing                                  \
    ",\"frames\":[\"020000000001020000000000" ZEROES "\"]}"
#define ZEROES                                                                                     \
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"   \
    "000000"
#define TRIAL(streams)                                                                             \
    "{\"id\":1,\"request\":\"trial\",\"mark\":1,\"duration_s\":1,\"drain_s\":0,\"streams\":"       \
    "[" streams "]}"
#define ONE "{\"kind\":\"one-in-flight\",\"timeout_us\":100}"
#define PROBE(number, tx, rx) STREAM(number, "latency", tx, rx, ONE)

static void
probes_both_ways_are_stamped(void **state)
{
    struct error error;
    json_t *json = parse(TRIAL(PROBE("0", "0", "1") "," PROBE("1", "1", "0")));

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_true(trial_request.streams[0].port_stamps);
    assert_true(trial_request.streams[1].port_stamps);
    json_decref(json);
}

static void
frames_that_may_be_many_under_way_are_not(void **state)
{
    const char *message = "timesync is for latency streams with one probe in flight";

    (void)state;
    assert_refused(TRIAL(STREAM("0", "latency", "0", "1", "{\"kind\":\"constant\"}")),
                   "streams[0].stamps", message);
    assert_refused(TRIAL(STREAM("0", "load", "0", "1", "{\"kind\":\"constant\"}")),
                   "streams[0].stamps", message);
}

static void
a_port_has_room_for_one_stream_each_way(void **state)
{
    (void)state;
    assert_refused(TRIAL(PROBE("0", "0", "1") "," PROBE("1", "0", "0")), "streams[1].stamps",
                   "port 0 already stamps what stream 0 sends");
    assert_refused(TRIAL(PROBE("0", "0", "1") "," PROBE("1", "1", "1")), "streams[1].stamps",
                   "port 1 already stamps what comes of stream 0");
}

static void
ports_are_opened_for_it(void **state)
{
    static const enum stamps opened[][2] = {{STAMPS_TSC, STAMPS_TIMESYNC},
                                            {STAMPS_TIMESYNC, STAMPS_HARDWARE}};
    json_t *json = parse(TRIAL(PROBE("0", "0", "1")));
    struct open_request config = reading_config;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct error error = {0};

        config.ports[0].stamps = opened[i][0];
        config.ports[1].stamps = opened[i][1];
        trial_request_clear(&trial_request);
        assert_int_equal(request_trial(json, &config, &trial_request, &error), -EINVAL);
        assert_string_equal(error.where, "streams[0].stamps");
        assert_string_equal(error.message, "its ports were not opened with timesync");
    }
    json_decref(json);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_both_ways_are_stamped),
        cmocka_unit_test(frames_that_may_be_many_under_way_are_not),
        cmocka_unit_test(a_port_has_room_for_one_stream_each_way),
        cmocka_unit_test(ports_are_opened_for_it),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    trial_request_clear(&trial_request);
    return failed;
}
