/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts and neighbours: what the vectors cannot tell, for a schema knows no addresses. */
#include "request_reading.h"

#define OPEN(host)                                                                                 \
    "{\"id\":1,\"request\":\"open\",\"memory\":{\"huge\":false,\"megabytes\":64},"                 \
    "\"main_cpus\":[0],\"workers\":[{\"cpu\":0,\"tx\":[[0,0]],\"rx\":[[0,0]]}],"                   \
    "\"ports\":[{\"devargs\":\"net_ring0\",\"host\":" host "}]}"
#define RESOLVE(neighbours) "{\"id\":5,\"request\":\"resolve\",\"neighbours\":[" neighbours "]}"

static void
a_host_is_read_in_network_order(void **state)
{
    static const uint8_t mac[] = {0x02, 0xab, 0xCD, 0x00, 0x0f, 0xf0};
    static const uint8_t ipv4[16] = {192, 0, 2, 1};
    static const uint8_t ipv6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 0x1f};
    const struct host *host = &open_request.ports[0].host;
    struct error error;
    json_t *json = parse(OPEN("{\"addresses\":[\"192.0.2.1\",\"2001:db8::1f\"],"
                              "\"mac\":\"02:ab:CD:00:0f:F0\",\"vlan\":100}"));

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_true(host->present && host->has_mac && host->tagged);
    assert_int_equal(host->vlan, 100);
    assert_memory_equal(host->mac, mac, sizeof(mac));
    assert_int_equal(host->address_count, 2);
    assert_int_equal(host->addresses[0].version, 4);
    assert_memory_equal(host->addresses[0].bytes, ipv4, 16);
    assert_int_equal(host->addresses[1].version, 6);
    assert_memory_equal(host->addresses[1].bytes, ipv6, 16);
    json_decref(json);
}

static void
what_is_no_hosts_address_is_refused(void **state)
{
    static const char *const wrong[] = {"192.0.2",     "192.0.2.256",  "224.0.0.1",
                                        "0.0.0.0",     "ff02::1",      "fe80::1%eth0",
                                        "2001:db8::g", "192.0.2.1/24", "255.255.255.255"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[512];

        snprintf(text, sizeof(text), OPEN("{\"addresses\":[\"10.0.0.1\",\"%s\"]}"), wrong[i]);
        assert_refused(text, "ports[0].host.addresses[1]", "must be an IP address of one host");
    }
    assert_refused(OPEN("{\"addresses\":[\"::1:2\",\"0::1:2\"]}"), "ports[0].host.addresses[1]",
                   "is there twice");
}

static void
what_is_no_stations_mac_is_refused(void **state)
{
    static const char *const wrong[] = {
        "01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00",      "02:00:00:00:00:0g",
        "02:00:00:00:00:0Z", "0:200:00:00:00:01", "02:00:00:00:00:0\\u0011"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[512];

        snprintf(text, sizeof(text), OPEN("{\"addresses\":[\"10.0.0.1\"],\"mac\":\"%s\"}"),
                 wrong[i]);
        assert_refused(text, "ports[0].host.mac", "must be the MAC address of one station");
    }
}

static void
neighbours_are_on_the_wires_of_hosts(void **state)
{
    struct error error;
    json_t *json = parse(RESOLVE("{\"port\":0,\"address\":\"192.0.2.2\"}"));

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(resolve_request.tries, 5);
    assert_true(resolve_request.wait_s == 1);
    assert_int_equal(resolve_request.neighbours.count, 1);
    assert_false(resolve_request.neighbours.neighbour[0].known);
    json_decref(json);
    assert_refused(RESOLVE("{\"port\":1,\"address\":\"192.0.2.2\"}"), "neighbours[0].port",
                   "port 1 has no host");
    assert_refused(RESOLVE("{\"port\":2,\"address\":\"192.0.2.2\"}"), "neighbours[0].port",
                   "there is no port 2");
    assert_refused(RESOLVE("{\"port\":0,\"address\":\"ff02::2\"}"), "neighbours[0].address",
                   "must be an IP address of one host");
    assert_refused(
        RESOLVE(
            "{\"port\":0,\"address\":\"2001:db8::2\"},{\"port\":0,\"address\":\"2001:db8:0::2\"}"),
        "neighbours[1].address", "is there twice");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_is_read_in_network_order),
        cmocka_unit_test(what_is_no_hosts_address_is_refused),
        cmocka_unit_test(what_is_no_stations_mac_is_refused),
        cmocka_unit_test(neighbours_are_on_the_wires_of_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
