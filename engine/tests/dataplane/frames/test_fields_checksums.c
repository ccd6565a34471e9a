/* SPDX-License-Identifier: Apache-2.0 */
/* The checksums that fields move, against sums of whole headers and datagrams. */
#include "written_frames.h"

#define TCP 6
#define UDP 17
#define ICMP 1
#define ICMPV6 58
#define EXPERIMENTAL 253 /* RFC 3692 */
#define VXLAN_BYTES (ETHERNET_BYTES + IPV4_BYTES + 8 + 8)
#define TRANSPORT_BYTES 40

/* All 65536 values of the low half of an address: each checksum passes every value. */
static void
checksums_are_right_for_every_value_of_a_word(void **state)
{
    struct written_stream stream = stream_of(1, (struct field[]){ip_field(DST_IP, 1 << 16, 1)});

    (void)state;
    write_and_check(&stream, 0, 2 << 16);
}

/* Fields of any width and alignment over the addresses and ports, their bases random. */
static void
checksums_are_right_for_fields_anywhere(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint32_t round = 0; round < 2000; round++) {
        const uint16_t width = (uint16_t)(1 + random_below(&seed, 8));
        const uint16_t offset = (uint16_t)(SRC_IP + random_below(&seed, 9 - width));
        const uint32_t step = (uint32_t)(1 + random_below(&seed, UINT32_MAX));
        struct written_stream stream =
            stream_of(1, (struct field[]){with_fixes(field(offset, width, 200, step), 2,
                                                     IPV4_CHECKSUM_AT, UDP_CHECKSUM_AT)});

        for (uint32_t i = 0; i < 8; i++)
            stream.template[SRC_IP + i] = (uint8_t)random_next(&seed);
        write_word(stream.template + IPV4_CHECKSUM_AT, ipv4_checksum(stream.template));
        write_word(stream.template + UDP_CHECKSUM_AT, udp_checksum(stream.template));
        start_stream(&stream);
        write_and_check(&stream, 0, 250);
    }
}

/* The sum of a frame whose words begin at odd offsets, or at even ones. */
static uint16_t
frame_sum(const uint8_t *frame, bool odd)
{
    uint8_t words[WRITABLE + 2] = {0};

    memcpy(words + (odd ? 1 : 0), frame, WRITABLE);
    return words_sum(words, sizeof(words));
}

/* Any field and any checksum: the sum of all words stays what it is in the template. */
static void
a_checksum_anywhere_makes_up_for_a_field_anywhere(void **state)
{
    uint64_t seed = 8;

    (void)state;
    for (uint32_t round = 0; round < 5000; round++) {
        const uint16_t width = (uint16_t)(1 + random_below(&seed, 8));
        const uint16_t offset = (uint16_t)random_below(&seed, WRITABLE + 1 - width);
        const uint16_t checksum = (uint16_t)random_below(&seed, WRITABLE - 1);
        const bool odd = checksum % 2 != 0;
        struct written_stream stream = stream_of(0, NULL);
        uint8_t frame[TEMPLATE_MAX];

        if (checksum + 2 > offset && checksum < offset + width)
            continue;
        for (uint32_t i = 0; i < WRITABLE; i++)
            stream.template[i] = (uint8_t)random_next(&seed);
        stream.fields = (struct fields){
            .count = 1, .field = {with_fixes(field(offset, width, 50, 99991), 1, checksum, 0)}};
        start_stream(&stream);
        for (uint32_t i = 0; i < 60; i++) {
            write_next(&stream, frame);
            assert_int_equal(frame_sum(frame, odd), frame_sum(stream.template, odd));
        }
    }
}

/* A frame one byte off, as behind an odd header: the words begin at odd offsets. */
static void
checksums_at_odd_offsets_cover_odd_words(void **state)
{
    struct written_stream stream = stream_of(0, NULL);
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    memmove(stream.template + 1, stream.template, FRAME_BYTES);
    stream.bytes++;
    for (uint16_t width = 3; width <= 4; width++) {
        stream.fields =
            (struct fields){.count = 1,
                            .field = {with_fixes(field(DST_IP + 1, width, 1 << 16, 3), 2,
                                                 IPV4_CHECKSUM_AT + 1, UDP_CHECKSUM_AT + 1)}};
        start_stream(&stream);
        for (uint32_t number = 0; number < 70000; number++) {
            write_next(&stream, frame);
            assert_int_equal(
                big_endian(frame + 1 + DST_IP, width),
                value_number(&stream.fields.field[0], stream.template, number % (1 << 16)));
            assert_checksums(frame + 1);
        }
    }
}

/* A template that is wrong by so much gives frames that are. */
static void
a_wrong_checksum_stays_as_wrong(void **state)
{
    struct written_stream stream = stream_of(0, NULL);
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    stream.fields = (struct fields){.count = 1, .field = {ip_field(DST_IP, 1000, 1)}};
    write_word(stream.template + IPV4_CHECKSUM_AT,
               (uint16_t)(read_word(stream.template + IPV4_CHECKSUM_AT) ^ 0x0101));
    const uint16_t wrong = words_sum(stream.template + IPV4_AT, IPV4_BYTES);
    assert_int_not_equal(wrong, 0xffff);
    start_stream(&stream);
    for (uint32_t i = 0; i < 1000; i++) {
        write_next(&stream, frame);
        assert_int_equal(words_sum(frame + IPV4_AT, IPV4_BYTES), wrong);
    }
}

/* An IP packet in a template: where it begins, and what it is. */
struct packet {
    uint32_t at;
    uint32_t version;
    uint32_t header_bytes;
    uint8_t protocol;
    uint32_t checksum_at; /* from the transport header's start */
};

static uint32_t
transport_at(const struct packet *packet)
{
    return packet->at + packet->header_bytes;
}

/* The transport checksum by RFC 768, 792, 4443 and 9293: over a pseudo-header, and its zero. */
static uint16_t
transport_checksum(const uint8_t *frame, const struct packet *packet)
{
    uint8_t bytes[TEMPLATE_MAX] = {0};
    const uint32_t address_bytes = packet->version == 4 ? 8 : 32;
    const uint32_t addresses_at = packet->at + (packet->version == 4 ? 12 : 8);
    uint32_t length = 0;

    if (packet->protocol != ICMP) {
        memcpy(bytes, frame + addresses_at, address_bytes);
        bytes[address_bytes + 1] = packet->protocol;
        bytes[address_bytes + 3] = TRANSPORT_BYTES;
        length = address_bytes + 4;
    }
    memcpy(bytes + length, frame + transport_at(packet), TRANSPORT_BYTES);
    memset(bytes + length + packet->checksum_at, 0, 2);
    const uint16_t checksum = (uint16_t)~words_sum(bytes, length + TRANSPORT_BYTES);
    return packet->protocol == UDP && checksum == 0 ? UINT16_MAX : checksum;
}

static uint16_t
header_checksum(const uint8_t *frame, const struct packet *packet)
{
    uint8_t header[60];

    memcpy(header, frame + packet->at, packet->header_bytes);
    memset(header + 10, 0, 2);
    return (uint16_t)~words_sum(header, packet->header_bytes);
}

static void
put_ip_header(uint8_t *header, const struct packet *packet)
{
    memset(header, 1, packet->header_bytes); /* options: no operation */
    if (packet->version == 4) {
        header[0] = (uint8_t)(0x40 | packet->header_bytes / 4);
        write_word(header + 2, (uint16_t)(packet->header_bytes + TRANSPORT_BYTES));
        header[8] = 64;
        header[9] = packet->protocol;
    } else {
        header[0] = 0x60;
        write_word(header + 4, TRANSPORT_BYTES);
        header[6] = packet->protocol;
        header[7] = 64;
    }
}

/* A template that has this packet at its end, with any bytes where ports and the like are. */
static struct written_stream
stream_of_packet(const struct packet *packet)
{
    struct written_stream stream = {.bytes = transport_at(packet) + TRANSPORT_BYTES - 18};
    uint8_t *transport = stream.template + transport_at(packet);

    make_frame(stream.template, (uint16_t)(stream.bytes + 18)); /* outer headers, if any */
    put_ip_header(stream.template + packet->at, packet);
    memset(transport, 0, TRANSPORT_BYTES);
    for (uint8_t i = 0; i < 8; i++)
        transport[i] = (uint8_t)(8 + i);
    if (packet->checksum_at == 6)
        write_word(transport + 4, TRANSPORT_BYTES);
    if (packet->version == 4)
        write_word(stream.template + packet->at + 10, header_checksum(stream.template, packet));
    write_word(transport + packet->checksum_at, transport_checksum(stream.template, packet));
    return stream;
}

/* The low half of the destination; of ICMP over IPv4, which no address is part of, its number. */
static struct field
passing_field(const struct packet *packet)
{
    const uint16_t transport = (uint16_t)transport_at(packet);
    const uint16_t checksum = (uint16_t)(transport + packet->checksum_at);
    const uint16_t last = (uint16_t)(packet->at + (packet->version == 4 ? 18 : 38));

    if (packet->protocol == ICMP)
        return with_fixes(field((uint16_t)(transport + 6), 2, 1 << 16, 1), 1, checksum, 0);
    if (packet->version == 6)
        return with_fixes(field(last, 2, 1 << 16, 1), 1, checksum, 0);
    return with_fixes(field(last, 2, 1 << 16, 1), 2, (uint16_t)(packet->at + 10), checksum);
}

/* Passes all values of a word, zero checksums among them, and compares to the recomputed. */
static void
check_packet(const struct packet *packet)
{
    struct written_stream stream = stream_of_packet(packet);
    const uint32_t checksum_at = transport_at(packet) + packet->checksum_at;
    const uint16_t zero = packet->protocol == UDP ? UINT16_MAX : 0;
    uint8_t frame[TEMPLATE_MAX];
    uint32_t zeros = 0;

    stream.fields = (struct fields){.count = 1, .field = {passing_field(packet)}};
    start_stream(&stream);
    for (uint32_t i = 0; i < 1 << 16; i++) {
        write_next(&stream, frame);
        assert_int_equal(read_word(frame + checksum_at), transport_checksum(frame, packet));
        if (packet->version == 4)
            assert_int_equal(read_word(frame + packet->at + 10), header_checksum(frame, packet));
        zeros += read_word(frame + checksum_at) == zero;
    }
    assert_true(zeros > 0);
}

/* Plain, behind two VLAN tags, behind MPLS labels, and inside VXLAN. */
static void
check_packet_anywhere(struct packet packet)
{
    const uint32_t places[] = {ETHERNET_BYTES, ETHERNET_BYTES + 8, ETHERNET_BYTES + 12,
                               VXLAN_BYTES + ETHERNET_BYTES};

    for (uint32_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        packet.at = places[i];
        check_packet(&packet);
    }
}

static void
zero_is_all_ones_in_udp_over_ipv4(void **state)
{
    (void)state;
    check_packet_anywhere((struct packet){0, 4, 20, UDP, 6});
}

static void
zero_is_all_ones_in_udp_behind_ipv4_options(void **state)
{
    (void)state;
    check_packet_anywhere((struct packet){0, 4, 24, UDP, 6});
    check_packet_anywhere((struct packet){0, 4, 60, UDP, 6});
}

static void
zero_is_all_ones_in_udp_over_ipv6(void **state)
{
    (void)state;
    check_packet_anywhere((struct packet){0, 6, 40, UDP, 6});
}

static void
zero_is_zero_in_tcp(void **state)
{
    (void)state;
    check_packet_anywhere((struct packet){0, 4, 20, TCP, 16});
    check_packet_anywhere((struct packet){0, 6, 40, TCP, 16});
}

static void
zero_is_zero_in_icmp(void **state)
{
    (void)state;
    check_packet_anywhere((struct packet){0, 4, 20, ICMP, 2});
    check_packet_anywhere((struct packet){0, 6, 40, ICMPV6, 2});
}

/* A header like UDP's in all but its number. */
static void
zero_is_zero_in_what_is_not_udp(void **state)
{
    (void)state;
    check_packet_anywhere((struct packet){0, 4, 20, EXPERIMENTAL, 6});
    check_packet_anywhere((struct packet){0, 6, 40, EXPERIMENTAL, 6});
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_right_for_every_value_of_a_word),
        cmocka_unit_test(checksums_are_right_for_fields_anywhere),
        cmocka_unit_test(a_checksum_anywhere_makes_up_for_a_field_anywhere),
        cmocka_unit_test(checksums_at_odd_offsets_cover_odd_words),
        cmocka_unit_test(a_wrong_checksum_stays_as_wrong),
        cmocka_unit_test(zero_is_all_ones_in_udp_over_ipv4),
        cmocka_unit_test(zero_is_all_ones_in_udp_behind_ipv4_options),
        cmocka_unit_test(zero_is_all_ones_in_udp_over_ipv6),
        cmocka_unit_test(zero_is_zero_in_tcp),
        cmocka_unit_test(zero_is_zero_in_icmp),
        cmocka_unit_test(zero_is_zero_in_what_is_not_udp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
