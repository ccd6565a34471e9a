/* SPDX-License-Identifier: Apache-2.0 */
/* Frames with the checksums that the standards want, and what becomes of them when damaged. */
#include "dataplane/frames/frame_check.h"

#include <stdlib.h>
#include <string.h>

#include "internet_checksum.h"
#include "seeded_random.h"
#include "unit_test.h"

#define FRAME_BYTES 61 /* odd, so that the last word is half a one */
#define ROOM 256
#define IPV6_BYTES 40
#define IPV6_UDP_AT (ETHERNET_BYTES + IPV6_BYTES)

struct made {
    uint8_t frame[ROOM];
    uint32_t length;
};

/* Ethernet, IPv4 and UDP, the payload random. */
static struct made
make_udp(uint32_t length)
{
    uint64_t seed = length;
    struct made made = {.length = length};

    make_frame(made.frame, (uint16_t)length);
    for (uint32_t i = UDP_AT + 8; i < length; i++)
        made.frame[i] = (uint8_t)random_next(&seed);
    write_word(made.frame + UDP_CHECKSUM_AT, udp_checksum(made.frame));
    return made;
}

/* Another transport over the same IPv4, its checksum at `offset` in it. */
static struct made
make_transport(uint8_t protocol, uint32_t offset, bool pseudo)
{
    struct made made = make_udp(FRAME_BYTES);
    const uint32_t bytes = made.length - UDP_AT;
    uint32_t sum = pseudo ? words_sum(made.frame + IPV4_AT + 12, 8) + protocol + bytes : 0;

    made.frame[IPV4_AT + 9] = protocol;
    write_word(made.frame + IPV4_CHECKSUM_AT, ipv4_checksum(made.frame));
    write_word(made.frame + UDP_AT + offset, 0);
    sum += words_sum(made.frame + UDP_AT, bytes);
    while (sum >> 16)
        sum = (sum >> 16) + (sum & UINT16_MAX);
    write_word(made.frame + UDP_AT + offset, (uint16_t)~sum);
    return made;
}

/* The same payload over IPv6, with UDP or ICMPv6. */
static struct made
make_ipv6(uint8_t protocol, uint32_t offset)
{
    const struct made udp = make_udp(FRAME_BYTES);
    const uint32_t bytes = udp.length - UDP_AT;
    struct made made = {.length = IPV6_UDP_AT + bytes};
    uint32_t sum = protocol + bytes;

    memcpy(made.frame, udp.frame, ETHERNET_BYTES);
    write_word(made.frame + 12, 0x86dd);
    made.frame[ETHERNET_BYTES] = 0x60;
    write_word(made.frame + ETHERNET_BYTES + 4, (uint16_t)bytes);
    made.frame[ETHERNET_BYTES + 6] = protocol;
    made.frame[ETHERNET_BYTES + 7] = 64;
    for (uint32_t i = 8; i < IPV6_BYTES; i++)
        made.frame[ETHERNET_BYTES + i] = (uint8_t)(i * 7);
    memcpy(made.frame + IPV6_UDP_AT, udp.frame + UDP_AT, bytes);
    write_word(made.frame + IPV6_UDP_AT + offset, 0);
    sum += words_sum(made.frame + ETHERNET_BYTES + 8, 32);
    sum += words_sum(made.frame + IPV6_UDP_AT, bytes);
    while (sum >> 16)
        sum = (sum >> 16) + (sum & UINT16_MAX);
    write_word(made.frame + IPV6_UDP_AT + offset, (uint16_t)~sum);
    return made;
}

static void
insert(struct made *made, uint32_t at, const char *bytes, uint32_t count)
{
    memmove(made->frame + at + count, made->frame + at, made->length - at);
    memcpy(made->frame + at, bytes, count);
    made->length += count;
}

/* In a buffer of just that size, so that the sanitizers see what is read beyond it. */
static struct frame_check
check(const struct made *made)
{
    uint8_t *exact = malloc(made->length);

    assert_non_null(exact);
    memcpy(exact, made->frame, made->length);
    const struct frame_check found = frame_check(exact, made->length);
    free(exact);
    return found;
}

static void
assert_whole(const struct made *made, enum frame_cover cover)
{
    const struct frame_check found = check(made);

    assert_false(found.damaged);
    assert_int_equal(found.cover, cover);
}

/* Every bit of the frame from `first` on, flipped alone. */
static void
assert_every_bit_counts(const struct made *made, uint32_t first)
{
    for (uint32_t bit = first * 8; bit < made->length * 8; bit++) {
        struct made flipped = *made;

        flipped.frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (!check(&flipped).damaged)
            fail_msg("bit %u of byte %u changed unseen", bit % 8, bit / 8);
    }
}

static void
a_udp_frame_is_covered_from_its_ip_header_to_its_end(void **state)
{
    (void)state;
    for (uint32_t length = 60; length <= 77; length++) {
        const struct made made = make_udp(length);

        assert_whole(&made, COVER_PACKET);
        assert_every_bit_counts(&made, IPV4_AT);
    }
}

static void
what_is_before_the_ip_header_is_not_covered(void **state)
{
    struct made made = make_udp(FRAME_BYTES);

    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        made.frame[i] ^= 0xff;
        assert_whole(&made, COVER_PACKET);
    }
}

static void
a_router_that_mends_what_it_rewrites_damages_nothing(void **state)
{
    struct made made = make_udp(FRAME_BYTES);

    (void)state;
    made.frame[IPV4_AT + 8]--;
    assert_true(check(&made).damaged);
    write_word(made.frame + IPV4_CHECKSUM_AT, ipv4_checksum(made.frame));
    assert_whole(&made, COVER_PACKET);
    /* Another address, as NAT has it: both checksums cover it. */
    made.frame[IPV4_AT + 15] ^= 9;
    write_word(made.frame + IPV4_CHECKSUM_AT, ipv4_checksum(made.frame));
    assert_true(check(&made).damaged);
    write_word(made.frame + UDP_CHECKSUM_AT, udp_checksum(made.frame));
    assert_whole(&made, COVER_PACKET);
}

static void
udp_without_a_checksum_leaves_the_header(void **state)
{
    struct made made = make_udp(FRAME_BYTES);

    (void)state;
    write_word(made.frame + UDP_CHECKSUM_AT, 0);
    assert_whole(&made, COVER_HEADER);
    made.frame[FRAME_BYTES - 1] ^= 1;
    assert_whole(&made, COVER_HEADER);
    made.frame[IPV4_AT + 1] ^= 1;
    assert_true(check(&made).damaged);
}

static void
other_transports_are_covered_too(void **state)
{
    const struct made made[] = {make_transport(6, 16, true), make_transport(1, 2, false),
                                make_ipv6(17, 6), make_ipv6(58, 2), make_ipv6(6, 16)};

    (void)state;
    for (uint32_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        assert_whole(&made[i], COVER_PACKET);
        const uint32_t at = i < 2 ? UDP_AT : IPV6_UDP_AT;
        assert_every_bit_counts(&made[i], at);
    }
}

static void
unknown_transports_leave_the_header(void **state)
{
    struct made made = make_udp(FRAME_BYTES);

    (void)state;
    made.frame[IPV4_AT + 9] = 132;
    write_word(made.frame + IPV4_CHECKSUM_AT, ipv4_checksum(made.frame));
    assert_whole(&made, COVER_HEADER);
}

static void
of_a_fragment_the_header_is_covered(void **state)
{
    struct made made = make_udp(FRAME_BYTES);

    (void)state;
    for (uint16_t flags = 1; flags != 0x4000; flags = (uint16_t)(flags << 1)) {
        write_word(made.frame + IPV4_AT + 6, flags);
        write_word(made.frame + IPV4_CHECKSUM_AT, ipv4_checksum(made.frame));
        assert_whole(&made, COVER_HEADER);
    }
}

static void
tags_and_labels_are_passed_over(void **state)
{
    struct made vlan = make_udp(FRAME_BYTES), mpls = make_udp(FRAME_BYTES);

    (void)state;
    insert(&vlan, 12, "\x81\x00\x20\x05", 4);
    assert_whole(&vlan, COVER_PACKET);
    insert(&vlan, 12, "\x88\xa8\x20\x06", 4);
    assert_whole(&vlan, COVER_PACKET);
    assert_every_bit_counts(&vlan, IPV4_AT + 8);
    write_word(mpls.frame + 12, 0x8847);
    insert(&mpls, 14, "\x00\x01\x01\x40", 4);
    assert_whole(&mpls, COVER_PACKET);
    insert(&mpls, 14, "\x00\x02\x00\x40", 4);
    assert_whole(&mpls, COVER_PACKET);
    /* Behind labels nothing but its first half byte says that it is IP. */
    assert_every_bit_counts(&mpls, IPV4_AT + 9);
}

static void
padding_behind_the_packet_is_not_covered(void **state)
{
    struct made made = make_udp(FRAME_BYTES);

    (void)state;
    insert(&made, FRAME_BYTES, "padding of a switch", 19);
    assert_whole(&made, COVER_PACKET);
}

static void
what_has_no_ip_has_nothing_to_check(void **state)
{
    struct made made = make_udp(FRAME_BYTES);

    (void)state;
    write_word(made.frame + 12, 0x0806);
    assert_whole(&made, COVER_NONE);
}

/* What is cut off is damaged, or too short to say what it was. Nothing beyond it is read. */
static void
a_frame_that_was_cut_is_damaged(void **state)
{
    const struct made whole[] = {make_udp(FRAME_BYTES), make_ipv6(17, 6)};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct made cut = whole[i];

        for (cut.length = ETHERNET_BYTES; cut.length < whole[i].length; cut.length++)
            assert_true(check(&cut).damaged);
        for (cut.length = 1; cut.length < ETHERNET_BYTES; cut.length++)
            assert_whole(&cut, COVER_NONE);
    }
}

static void
tags_without_end_are_not_followed(void **state)
{
    struct made made = {.length = ROOM};

    (void)state;
    for (uint32_t at = 12; at + 4 <= ROOM; at += 4)
        memcpy(made.frame + at, "\x81\x00\x00\x01", 4);
    assert_whole(&made, COVER_NONE);
    memset(made.frame + 14, 0, ROOM - 14);
    write_word(made.frame + 12, 0x8847);
    assert_whole(&made, COVER_NONE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_udp_frame_is_covered_from_its_ip_header_to_its_end),
        cmocka_unit_test(what_is_before_the_ip_header_is_not_covered),
        cmocka_unit_test(a_router_that_mends_what_it_rewrites_damages_nothing),
        cmocka_unit_test(udp_without_a_checksum_leaves_the_header),
        cmocka_unit_test(other_transports_are_covered_too),
        cmocka_unit_test(unknown_transports_leave_the_header),
        cmocka_unit_test(of_a_fragment_the_header_is_covered),
        cmocka_unit_test(tags_and_labels_are_passed_over),
        cmocka_unit_test(padding_behind_the_packet_is_not_covered),
        cmocka_unit_test(what_has_no_ip_has_nothing_to_check),
        cmocka_unit_test(a_frame_that_was_cut_is_damaged),
        cmocka_unit_test(tags_without_end_are_not_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
