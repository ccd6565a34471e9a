/* SPDX-License-Identifier: Apache-2.0 */
/* New rates are for streams that are there and have one; their vectors have the rest. */
#include "request_reading.h"

#define RATES(streams) "{\"id\":5,\"request\":\"rates\",\"streams\":[" streams "]}"

static void
rates_are_read_in_the_order_of_the_trial(void **state)
{
    struct error error;
    json_t *json =
        parse(RATES("{\"stream\":65535,\"rate_pps\":0},{\"stream\":0,\"rate_pps\":2.5}"));

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(rates_request.streams, 5);
    assert_int_equal(rates_request.begins, 0);
    assert_true(rates_request.rate_pps[0] == 2.5);
    assert_true(rates_request.rate_pps[2] == 0);
    json_decref(json);
}

static void
streams_begin_and_end_as_they_are_to(void **state)
{
    struct error error;
    json_t *json = parse(RATES("{\"stream\":65535,\"rate_pps\":5,\"duration_s\":2.5},"
                               "{\"stream\":0,\"rate_pps\":5,\"begin\":true}"));

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(rates_request.begins, 1);
    assert_true(rates_request.duration_s[0] == 0);
    assert_true(rates_request.duration_s[2] == 2.5);
    json_decref(json);
}

static void
only_streams_that_have_a_rate_get_another(void **state)
{
    (void)state;
    assert_refused(RATES("{\"stream\":0,\"rate_pps\":1},{\"stream\":5,\"rate_pps\":1}"),
                   "streams[1].stream", "there is no stream 5");
    assert_refused(RATES("{\"stream\":7,\"rate_pps\":1},{\"stream\":7,\"rate_pps\":1}"),
                   "streams[1].stream", "number 7 is there twice");
    assert_refused(RATES("{\"stream\":8,\"rate_pps\":1}"), "streams[0].stream",
                   "stream 8 is not paced by a rate");
    assert_refused(RATES("{\"stream\":9,\"rate_pps\":0}"), "streams[0].stream",
                   "stream 9 is not paced by a rate");
    assert_refused(RATES("{\"stream\":0,\"rate_pps\":0.001}"), "streams[0].rate_pps",
                   "must be 0 or at least 0.01");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_read_in_the_order_of_the_trial),
        cmocka_unit_test(streams_begin_and_end_as_they_are_to),
        cmocka_unit_test(only_streams_that_have_a_rate_get_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
