/* SPDX-License-Identifier: Apache-2.0 */
/* Links are of ports that are open; their vectors have the rest. */
#include "request_reading.h"

#define LINK(port, up) "{\"id\":2,\"request\":\"link\",\"port\":" port ",\"up\":" up "}"

static void
a_link_is_taken_down_and_brought_up(void **state)
{
    struct error error;
    json_t *down = parse(LINK("1", "false")), *up = parse(LINK("0", "true"));

    (void)state;
    assert_int_equal(read_request(down, &error), 0);
    assert_int_equal(link_request.port, 1);
    assert_false(link_request.up);
    assert_int_equal(read_request(up, &error), 0);
    assert_int_equal(link_request.port, 0);
    assert_true(link_request.up);
    json_decref(down);
    json_decref(up);
}

static void
a_port_must_be_open(void **state)
{
    static const struct open_request no_ports = {0};
    struct link_request request = {0};
    struct error error = {0};
    json_t *json = parse(LINK("0", "false"));

    (void)state;
    assert_refused(LINK("2", "true"), "port", "must be an integer from 0 to 1");
    assert_int_equal(request_link(json, &no_ports, &request, &error), -EINVAL);
    assert_string_equal(error.where, "port");
    assert_string_equal(error.message, "no port is open");
    json_decref(json);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_taken_down_and_brought_up),
        cmocka_unit_test(a_port_must_be_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
