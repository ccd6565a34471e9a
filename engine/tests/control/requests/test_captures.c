/* SPDX-License-Identifier: Apache-2.0 */
/* Captures are of ports that are open, each once; their vectors have the rest. */
#include "request_reading.h"

#define TRIAL(captures)                                                                            \
    "{\"id\":2,\"request\":\"trial\",\"mark\":1,\"duration_s\":1,\"drain_s\":0,\"streams\":[],"    \
    "\"captures\":[" captures "]}"
#define CAPTURE(port, more) "{\"port\":" port ",\"path\":\"/a\",\"most_frames\":9" more "}"
#define SWITCH(port) "{\"id\":2,\"request\":\"capture\",\"on\":false,\"port\":" port "}"

static void
captures_are_read_with_their_defaults(void **state)
{
    const struct capture_request *captures = trial_request.captures;
    struct error error;
    json_t *json =
        parse(TRIAL(CAPTURE("1", "") "," CAPTURE("0", ",\"snap_bytes\":64,\"on\":false")));

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(trial_request.capture_count, 2);
    assert_int_equal(captures[0].port, 1);
    assert_string_equal(captures[0].path, "/a");
    assert_int_equal(captures[0].snap_bytes, RECEIVED_MAX_BYTES);
    assert_int_equal(captures[0].most_frames, 9);
    assert_true(captures[0].on);
    assert_int_equal(captures[1].port, 0);
    assert_int_equal(captures[1].snap_bytes, 64);
    assert_false(captures[1].on);
    json_decref(json);
}

static void
a_port_is_captured_once_and_open(void **state)
{
    (void)state;
    assert_refused(TRIAL(CAPTURE("1", "") "," CAPTURE("1", "")), "captures[1].port",
                   "port 1 is captured twice");
    assert_refused(TRIAL(CAPTURE("2", "")), "captures[0].port", "must be an integer from 0 to 1");
}

static void
a_path_is_from_the_root_on(void **state)
{
    (void)state;
    assert_refused(TRIAL("{\"port\":0,\"path\":\"a\",\"most_frames\":9}"), "captures[0].path",
                   "must begin with /");
}

static void
a_switch_is_of_a_capture_of_the_trial(void **state)
{
    struct error error;
    json_t *json = parse(SWITCH("0"));

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(capture_switch.capture, 1);
    assert_false(capture_switch.on);
    json_decref(json);
    assert_refused(SWITCH("2"), "port", "port 2 is not captured");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_are_read_with_their_defaults),
        cmocka_unit_test(a_port_is_captured_once_and_open),
        cmocka_unit_test(a_path_is_from_the_root_on),
        cmocka_unit_test(a_switch_is_of_a_capture_of_the_trial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
