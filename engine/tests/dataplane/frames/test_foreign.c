/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/frames/foreign.h"

#include <string.h>

#include "unit_test.h"

/* A frame's destination and source, then the bytes given, then zeros up to 60. */
#define AFTER_ADDRESSES(...)                                                                       \
    {                                                                                              \
        1, 0x80, 0xc2, 0, 0, 0, 2, 0, 0, 0, 0, 1, __VA_ARGS__                                      \
    }

struct example {
    const char *name;
    uint8_t frame[60];
};

static const struct example examples[] = {
    {"arp", AFTER_ADDRESSES(0x08, 0x06, 0, 1)},
    {"lldp", AFTER_ADDRESSES(0x88, 0xcc, 2, 7)},
    {"stp", AFTER_ADDRESSES(0, 38, 0x42, 0x42, 3)},
    {"slow_protocols", AFTER_ADDRESSES(0x88, 0x09, 1, 1)},
    {"flow_control", AFTER_ADDRESSES(0x88, 0x08, 0, 1)},
    {"ptp", AFTER_ADDRESSES(0x88, 0xf7, 0, 2)},
    {"ipv4", AFTER_ADDRESSES(0x08, 0x00, 0x45)},
    {"ipv6", AFTER_ADDRESSES(0x86, 0xdd, 0x60)},
    {"other", AFTER_ADDRESSES(0x88, 0x47, 0, 1)},
    {"other", AFTER_ADDRESSES(0, 38, 0xaa, 0xaa, 3)}, /* SNAP: IEEE 802.2, not spanning tree */
    {"ipv4", AFTER_ADDRESSES(0x81, 0x00, 0, 5, 0x08, 0x00, 0x45)},
    {"arp", AFTER_ADDRESSES(0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x08, 0x06)},
};

static void
kinds_are_distinguished_by_their_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        assert_string_equal(foreign_names[foreign_kind(examples[i].frame, 60)], examples[i].name);
}

static void
a_frame_without_a_whole_header_is_a_runt(void **state)
{
    (void)state;
    for (uint32_t length = 0; length < 14; length++)
        assert_int_equal(foreign_kind(examples[0].frame, length), FOREIGN_RUNT);
    assert_int_equal(foreign_kind(examples[0].frame, 14), FOREIGN_ARP);
}

/* Tags to the end of what there is: the type behind them is not known. */
static void
tags_without_end_are_read_to_the_end(void **state)
{
    uint8_t frame[64] = {0};

    (void)state;
    for (uint32_t at = 12; at + 4 <= sizeof(frame); at += 4)
        memcpy(frame + at, "\x81\x00\x00\x01", 4);
    for (uint32_t length = 14; length <= sizeof(frame); length++)
        assert_int_equal(foreign_kind(frame, length), FOREIGN_OTHER);
}

/* The packet says so many bytes, header and all for IPv4, behind it for IPv6. */
static void
a_packet_that_is_longer_than_its_frame_was_cut_short(void **state)
{
    static const struct example ipv4 = {"", AFTER_ADDRESSES(0x08, 0x00, 0x45, 0, 0, 46)};
    static const struct example ipv6 = {"", AFTER_ADDRESSES(0x86, 0xdd, 0x60, 0, 0, 0, 0, 6)};
    static const struct example tagged = {
        "", AFTER_ADDRESSES(0x81, 0x00, 0, 5, 0x08, 0x00, 0x45, 0, 0, 46)};
    static const struct example arp = {"", AFTER_ADDRESSES(0x08, 0x06, 0xff, 0xff, 0xff, 0xff)};

    (void)state;
    assert_false(cut_short(ipv4.frame, 60, 60));
    assert_true(cut_short(ipv4.frame, 59, 59));
    /* Padding behind a packet is no reason. */
    assert_false(cut_short(ipv4.frame, 60, 1514));
    assert_false(cut_short(ipv6.frame, 60, 60));
    assert_true(cut_short(ipv6.frame, 59, 59));
    assert_false(cut_short(tagged.frame, 60, 64));
    assert_true(cut_short(tagged.frame, 60, 63));
    assert_false(cut_short(arp.frame, 60, 60));
    /* Nothing is read beyond the frame's end. */
    for (uint32_t length = 0; length < 20; length++)
        assert_false(cut_short(ipv4.frame, length, length));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_distinguished_by_their_type),
        cmocka_unit_test(a_frame_without_a_whole_header_is_a_runt),
        cmocka_unit_test(tags_without_end_are_read_to_the_end),
        cmocka_unit_test(a_packet_that_is_longer_than_its_frame_was_cut_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
