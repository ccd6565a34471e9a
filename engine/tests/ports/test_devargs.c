/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/devargs.h"

#include <errno.h>
#include <string.h>

#include "unit_test.h"

static void
pci_addresses_are_distinguished_from_virtual_devices(void **state)
{
    (void)state;
    assert_true(devargs_is_pci("0000:01:00.0"));
    assert_true(devargs_is_pci("af:00.1,arg=1"));
    assert_false(devargs_is_pci("net_ring0"));
    assert_false(devargs_is_pci("net_memif0,socket=/tmp/a:b"));
    assert_false(devargs_is_pci(""));
}

static void
the_name_ends_at_the_first_comma(void **state)
{
    char name[10];

    (void)state;
    assert_int_equal(devargs_name("net_null0,size=64", name, sizeof(name)), 0);
    assert_string_equal(name, "net_null0");
    assert_int_equal(devargs_name("net_nul", name, sizeof(name)), 0);
    assert_string_equal(name, "net_nul");
    assert_int_equal(devargs_name("net_null10", name, sizeof(name)), -ENAMETOOLONG);
}

static void
values_are_found_by_their_whole_key(void **state)
{
    static const char devargs[] = "net_x0,xbsize=1,bsize=9216,bsize=2,last=";
    char value[5];

    (void)state;
    assert_int_equal(devargs_value(devargs, "bsize", value, sizeof(value)), 0);
    assert_string_equal(value, "9216");
    assert_int_equal(devargs_value(devargs, "last", value, sizeof(value)), 0);
    assert_string_equal(value, "");
    assert_int_equal(devargs_value(devargs, "size", value, sizeof(value)), -ENOENT);
    assert_int_equal(devargs_value("bsize=1", "bsize", value, sizeof(value)), -ENOENT);
    assert_int_equal(devargs_value("a,bsize=10000", "bsize", value, sizeof(value)), -ENAMETOOLONG);
}

static void
assert_socket(const char *devargs, const char *path, bool connects, bool at_once, bool abstract)
{
    struct peer_socket socket;

    assert_true(devargs_peer_socket(devargs, &socket));
    assert_string_equal(socket.path, path);
    assert_int_equal(socket.connects, connects);
    assert_int_equal(socket.at_once, at_once);
    assert_int_equal(socket.abstract, abstract);
}

static void
devices_with_a_peer_tell_its_socket_and_who_listens(void **state)
{
    (void)state;
    assert_socket("net_memif0", "/run/memif.sock", true, false, true);
    assert_socket("net_memif0,role=client,socket=/a,socket-abstract=no", "/a", true, false, false);
    assert_socket("net_memif1,role=server,id=1,socket=/a", "/a", false, false, true);
    assert_socket("net_virtio_user0,path=/a,queues=2", "/a", true, true, false);
    assert_socket("net_virtio_user0,path=/a,server=1", "/a", false, true, false);
    assert_socket("net_vhost0,iface=/a", "/a", false, false, false);
    assert_socket("eth_vhost0,iface=/a,client=1", "/a", true, false, false);
}

static void
devices_without_a_peer_have_no_socket(void **state)
{
    char devargs[256] = "net_memif0,socket=/";
    struct peer_socket socket;

    (void)state;
    assert_false(devargs_peer_socket("net_ring0", &socket));
    assert_false(devargs_peer_socket("0000:01:00.0", &socket));
    assert_false(devargs_peer_socket("net_tap0,iface=/a", &socket));
    assert_false(devargs_peer_socket("net_virtio_user0,path=/dev/vhost-net", &socket));
    assert_false(devargs_peer_socket("net_vhost0", &socket));
    /* Longer than a socket's path may be: for the driver to refuse. */
    memset(devargs + strlen(devargs), 'x', 120);
    assert_false(devargs_peer_socket(devargs, &socket));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pci_addresses_are_distinguished_from_virtual_devices),
        cmocka_unit_test(the_name_ends_at_the_first_comma),
        cmocka_unit_test(values_are_found_by_their_whole_key),
        cmocka_unit_test(devices_with_a_peer_tell_its_socket_and_who_listens),
        cmocka_unit_test(devices_without_a_peer_have_no_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
