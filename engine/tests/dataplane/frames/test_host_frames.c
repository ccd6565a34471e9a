/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and answers byte by byte, worked out by hand from the RFCs; sums are checked by
 * the tests' own addition.
 */
#include "dataplane/frames/host_frames.h"

#include <stdlib.h>
#include <string.h>

#include "internet_checksum.h"
#include "unit_test.h"

#define OUR_MAC 0x02, 0, 0, 0, 0, 0x0a
#define THEIR_MAC 0x02, 0, 0, 0, 0, 0x0b
#define ALL_MACS 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define OUR_IPV4 192, 0, 2, 1
#define THEIR_IPV4 192, 0, 2, 2
#define OUR_IPV6 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x01
#define THEIR_IPV6 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02
#define OUR_GROUP 0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0x12, 0x01
#define ECHO_DATA 'e', 'c', 'h', 'o', '?'

static struct host host = {
    .present = true,
    .mac = {OUR_MAC},
    .address_count = 3,
    .addresses = {{.version = 4, .bytes = {OUR_IPV4}},
                  {.version = 6, .bytes = {OUR_IPV6}},
                  {.version = 6, .bytes = {0xfe, 0x80, [15] = 1}}},
};

static const uint8_t arp_request[60] = {ALL_MACS, THEIR_MAC, 0x08, 0x06, 0, 1,         0x08,
                                        0,        6,         4,    0,    1, THEIR_MAC, THEIR_IPV4,
                                        0,        0,         0,    0,    0, 0,         OUR_IPV4};
static const uint8_t arp_answer[60] = {THEIR_MAC, OUR_MAC,  0x08,      0x06,      0, 1,
                                       0x08,      0,        6,         4,         0, 2,
                                       OUR_MAC,   OUR_IPV4, THEIR_MAC, THEIR_IPV4};

/* Their checksums are put in by finish(). */
static const uint8_t echo_request[60] = {
    OUR_MAC, THEIR_MAC, 0x08,       0x00,     0x45, 0, 0, 33, 0x12, 0x34, 0x40, 0, 61,       1,
    0,       0,         THEIR_IPV4, OUR_IPV4, 8,    0, 0, 0,  0xab, 0xcd, 0,    7, ECHO_DATA};
static const uint8_t echo_answer[60] = {
    THEIR_MAC, OUR_MAC, 0x08,     0x00,       0x45, 0, 0, 33, 0x12, 0x34, 0, 0, 64,       1,
    0,         0,       OUR_IPV4, THEIR_IPV4, 0,    0, 0, 0,  0xab, 0xcd, 0, 7, ECHO_DATA};
static const uint8_t echo6_request[67] = {
    OUR_MAC,    THEIR_MAC, 0x86, 0xdd, 0x60, 0, 0,    0,    0, 13, 58,       63,
    THEIR_IPV6, OUR_IPV6,  128,  0,    0,    0, 0xab, 0xcd, 0, 7,  ECHO_DATA};
static const uint8_t echo6_answer[67] = {
    THEIR_MAC, OUR_MAC,    0x86, 0xdd, 0x60, 0, 0,    0,    0, 13, 58,       64,
    OUR_IPV6,  THEIR_IPV6, 129,  0,    0,    0, 0xab, 0xcd, 0, 7,  ECHO_DATA};
static const uint8_t solicitation[86] = {
    0x33, 0x33, 0xff, 0,  0x12, 0x01,     THEIR_MAC,  0x86,      0xdd,     0x60, 0,
    0,    0,    0,    32, 58,   255,      THEIR_IPV6, OUR_GROUP, 135,      0,    0,
    0,    0,    0,    0,  0,    OUR_IPV6, 1,          1,         THEIR_MAC};
static const uint8_t advertisement[86] = {
    THEIR_MAC,  OUR_MAC, 0x86, 0xdd, 0x60, 0,    0, 0, 0, 32,       58, 255, OUR_IPV6,
    THEIR_IPV6, 136,     0,    0,    0,    0x60, 0, 0, 0, OUR_IPV6, 2,  1,   OUR_MAC};

struct frame {
    uint8_t bytes[2048];
    uint32_t length;
};

/* The checksum of an ICMPv6 message of `length` bytes behind the IPv6 header at `at`. */
static void
sum_icmpv6(uint8_t *at, uint32_t length)
{
    uint8_t pseudo[2048] = {0};

    write_word(at + 42, 0);
    memcpy(pseudo, at + 8, 32);
    write_word(pseudo + 34, (uint16_t)length);
    pseudo[39] = 58;
    memcpy(pseudo + 40, at + 40, length);
    write_word(at + 42, (uint16_t)~words_sum(pseudo, 40 + length));
}

/* The frame with its checksums as they have to be, and `tag` put in behind the addresses. */
static struct frame
finish(const uint8_t *bytes, uint32_t length, int tag)
{
    struct frame frame = {.length = length};
    uint8_t *at = frame.bytes + 14;

    memcpy(frame.bytes, bytes, length);
    if (read_word(bytes + 12) == 0x0800) {
        const uint32_t header = (at[0] & 15u) * 4, whole = read_word(at + 2);

        write_word(at + 10, 0);
        write_word(at + 10, (uint16_t)~words_sum(at, header));
        write_word(at + header + 2, 0);
        write_word(at + header + 2, (uint16_t)~words_sum(at + header, whole - header));
    } else if (read_word(bytes + 12) == 0x86dd) {
        sum_icmpv6(at, read_word(at + 4));
    }
    if (tag >= 0) {
        memmove(frame.bytes + 16, frame.bytes + 12, frame.length - 12);
        write_word(frame.bytes + 12, 0x8100);
        write_word(frame.bytes + 14, (uint16_t)tag);
        /* Padding makes room for it: a tagged frame may be as short as another. */
        frame.length += length > FRAME_MIN_BYTES ? 4 : 0;
    }
    return frame;
}
#define FINISHED(bytes) finish(bytes, sizeof(bytes), -1)

static struct host_frame
read(const struct frame *frame, uint8_t *answer)
{
    /* Nothing behind the frame may be read: a sanitizer sees to it. */
    uint8_t *copy = malloc(frame->length > 0 ? frame->length : 1);
    struct host_frame found;

    assert_non_null(copy);
    memcpy(copy, frame->bytes, frame->length);
    found = host_frame_read(&host, copy, frame->length, answer);
    free(copy);
    return found;
}

static void
assert_answer(const struct frame *request, enum host_counter kind, const struct frame *expected)
{
    uint8_t answer[HOST_FRAME_MAX];
    const struct host_frame found = read(request, answer);

    assert_int_equal(found.kind, kind);
    assert_int_equal(found.answer_bytes, expected->length);
    assert_memory_equal(answer, expected->bytes, expected->length);
}

static void
assert_nothing(const struct frame *frame)
{
    uint8_t answer[HOST_FRAME_MAX];
    const struct host_frame found = read(frame, answer);

    assert_int_equal(found.kind, HOST_NOTHING);
    assert_int_equal(found.answer_bytes, 0);
}

static const struct {
    const uint8_t *request, *answer;
    uint32_t request_bytes, answer_bytes;
    enum host_counter kind;
} exchanges[] = {
    {arp_request, arp_answer, 60, 60, HOST_ARP},
    {echo_request, echo_answer, 60, 60, HOST_ECHO},
    {echo6_request, echo6_answer, 67, 67, HOST_ECHO},
    {solicitation, advertisement, 86, 86, HOST_ND},
};
#define EXCHANGES (sizeof(exchanges) / sizeof(exchanges[0]))

static void
requests_are_answered(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXCHANGES; i++) {
        const struct frame request = finish(exchanges[i].request, exchanges[i].request_bytes, -1);
        const struct frame answer = finish(exchanges[i].answer, exchanges[i].answer_bytes, -1);

        assert_answer(&request, exchanges[i].kind, &answer);
    }
}

static void
a_host_of_a_vlan_speaks_there_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXCHANGES; i++) {
        const struct frame plain = finish(exchanges[i].request, exchanges[i].request_bytes, -1);
        const struct frame priority =
            finish(exchanges[i].request, exchanges[i].request_bytes, 0xa000);
        const struct frame tagged =
            finish(exchanges[i].request, exchanges[i].request_bytes, 0xa064);
        const struct frame other = finish(exchanges[i].request, exchanges[i].request_bytes, 101);
        const struct frame answer = finish(exchanges[i].answer, exchanges[i].answer_bytes, 100);
        const struct frame untagged = finish(exchanges[i].answer, exchanges[i].answer_bytes, -1);

        assert_answer(&priority, exchanges[i].kind, &untagged);
        assert_nothing(&tagged);
        host.tagged = true;
        host.vlan = 100;
        assert_nothing(&plain);
        assert_nothing(&other);
        assert_answer(&tagged, exchanges[i].kind, &answer);
        host.tagged = false;
    }
}

/* Each bit of what a checksum or a rule covers, one at a time; what it leaves open is listed. */
static void
a_damaged_echo_request_gets_no_answer(void **state)
{
    struct frame four = FINISHED(echo_request), six = FINISHED(echo6_request);

    (void)state;
    for (uint32_t bit = 0; bit < 33 * 8; bit++) {
        four.bytes[14 + bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_nothing(&four);
        four.bytes[14 + bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (uint32_t bit = 0; bit < 53 * 8; bit++) {
        const uint32_t at = bit / 8;

        /* Traffic class, flow label and hop limit are in no checksum, and any will do. */
        if ((at == 0 && bit % 8 < 4) || (at >= 1 && at <= 3) || at == 7)
            continue;
        six.bytes[14 + at] ^= (uint8_t)(1 << bit % 8);
        assert_nothing(&six);
        six.bytes[14 + at] ^= (uint8_t)(1 << bit % 8);
    }
}

static void
what_is_cut_short_gets_no_answer(void **state)
{
    static const uint32_t whole[EXCHANGES] = {42, 14 + 33, 67, 86};

    (void)state;
    for (size_t i = 0; i < EXCHANGES; i++) {
        struct frame frame = finish(exchanges[i].request, exchanges[i].request_bytes, -1);

        for (frame.length = 0; frame.length < whole[i]; frame.length++)
            assert_nothing(&frame);
    }
}

static void
what_is_for_others_gets_no_answer(void **state)
{
    struct frame frame;

    (void)state;
    for (size_t i = 0; i < EXCHANGES; i++) {
        /* From ourselves, as where a port receives what it sends. */
        frame = finish(exchanges[i].request, exchanges[i].request_bytes, -1);
        memcpy(frame.bytes + 6, host.mac, 6);
        assert_nothing(&frame);
        frame.bytes[6] = 0x03; /* from a group */
        assert_nothing(&frame);
    }
    frame = FINISHED(arp_request);
    frame.bytes[41] ^= 4; /* for another address */
    assert_nothing(&frame);
    frame = FINISHED(arp_request);
    frame.bytes[0] = 0x02; /* to another station */
    assert_nothing(&frame);
    frame = FINISHED(arp_request);
    frame.bytes[21] = 3; /* reverse ARP */
    assert_nothing(&frame);
    frame = FINISHED(echo_request);
    frame.bytes[0] = 0x04;
    assert_nothing(&frame);
    memset(frame.bytes, 0xff, 6); /* to everyone's station */
    assert_nothing(&frame);
}

static struct frame
changed(const uint8_t *bytes, uint32_t length, uint32_t at, uint8_t value)
{
    uint8_t copy[128];

    memcpy(copy, bytes, length);
    copy[at] = value;
    return finish(copy, length, -1);
}

/* With right checksums, but not as RFC 4861, 791 and 792 want them. */
static void
what_breaks_a_rule_gets_no_answer(void **state)
{
    static const struct {
        const uint8_t *bytes;
        uint32_t length, at;
        uint8_t value;
    } wrong[] = {
        {echo_request, 60, 14 + 6, 0x20},  /* more fragments follow */
        {echo_request, 60, 14 + 7, 0x01},  /* a later fragment */
        {echo_request, 60, 14 + 9, 17},    /* UDP */
        {echo_request, 60, 14 + 12, 224},  /* from a group */
        {echo_request, 60, 14 + 20, 0},    /* an answer */
        {echo_request, 60, 14 + 21, 1},    /* a code that there is not */
        {echo6_request, 67, 14 + 8, 0xff}, /* from a group */
        {echo6_request, 67, 14 + 40, 129}, /* an answer */
        {echo6_request, 67, 14 + 41, 1},   /* a code that there is not */
        {echo6_request, 67, 14 + 6, 17},   /* UDP */
        {solicitation, 86, 14 + 7, 254},   /* it has passed a router */
        {solicitation, 86, 14 + 41, 1},    /* a code that there is not */
        {solicitation, 86, 14 + 65, 0},    /* an option without length */
        {solicitation, 86, 14 + 65, 2},    /* an option beyond the end */
        {solicitation, 86, 14 + 66, 1},    /* the link-layer address of a group */
        {solicitation, 86, 14 + 39, 2},    /* to another group than the target's */
        {solicitation, 86, 14 + 63, 2},    /* for another address */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct frame frame =
            changed(wrong[i].bytes, wrong[i].length, wrong[i].at, wrong[i].value);

        assert_nothing(&frame);
    }
}

static void
who_has_no_address_yet_is_answered_before_all(void **state)
{
    uint8_t bytes[78], expected[86] = {0x33, 0x33, 0, 0, 0, 1};
    struct frame frame, answer;

    (void)state;
    memcpy(bytes, solicitation, sizeof(bytes));
    bytes[14 + 5] = 24; /* without options */
    memset(bytes + 14 + 8, 0, 16);
    frame = FINISHED(bytes);
    memcpy(expected + 6, advertisement + 6, sizeof(expected) - 6);
    memset(expected + 14 + 24, 0, 16);
    expected[14 + 24] = 0xff;
    expected[14 + 25] = 0x02;
    expected[14 + 39] = 1;
    expected[14 + 44] = 0x20; /* not solicited */
    answer = FINISHED(expected);
    assert_answer(&frame, HOST_ND, &answer);
    /* With its link-layer address it would have one (RFC 4861, section 7.1.1). */
    memcpy(expected, solicitation, sizeof(expected));
    memset(expected + 14 + 8, 0, 16);
    frame = FINISHED(expected);
    assert_nothing(&frame);
}

static void
options_of_an_ipv4_header_are_passed_over(void **state)
{
    const struct frame answer = FINISHED(echo_answer);
    uint8_t bytes[60] = {0};
    struct frame frame;

    (void)state;
    memcpy(bytes, echo_request, 34);
    bytes[14] = 0x46;
    bytes[17] = 37;
    memset(bytes + 34, 1, 4); /* nothing, four times */
    memcpy(bytes + 38, echo_request + 34, 13);
    frame = FINISHED(bytes);
    assert_answer(&frame, HOST_ECHO, &answer);
}

static void
a_long_echo_request_is_answered_and_a_longer_is_not(void **state)
{
    static uint8_t bytes[HOST_FRAME_MAX + 1];
    uint8_t answer[HOST_FRAME_MAX];
    struct frame frame;

    (void)state;
    memcpy(bytes, echo_request, 42);
    write_word(bytes + 16, 1500);
    frame = finish(bytes, 1514, -1);
    assert_int_equal(read(&frame, answer).answer_bytes, 1514);
    write_word(bytes + 16, 1505);
    frame = finish(bytes, 1519, -1);
    assert_nothing(&frame);
}

static void
neighbours_say_where_they_are(void **state)
{
    static const uint8_t their_ipv4[16] = {THEIR_IPV4}, their_ipv6[16] = {THEIR_IPV6};
    static const uint8_t their_mac[6] = {THEIR_MAC};
    uint8_t answer[HOST_FRAME_MAX], bytes[86];
    struct host_frame found;
    struct frame frame;

    (void)state;
    memcpy(bytes, arp_answer, 60);
    memcpy(bytes, host.mac, 6);
    memcpy(bytes + 6, their_mac, 6);
    memcpy(bytes + 22, arp_answer + 32, 10); /* they, then we */
    memcpy(bytes + 32, arp_answer + 22, 10);
    frame = finish(bytes, 60, -1);
    found = read(&frame, answer);
    assert_int_equal(found.kind, HOST_HEARD);
    assert_int_equal(found.answer_bytes, 0);
    assert_int_equal(found.claimed.version, 4);
    assert_memory_equal(found.claimed.bytes, their_ipv4, 16);
    assert_memory_equal(found.claimed_mac, their_mac, 6);

    memcpy(bytes, advertisement, 86);
    memcpy(bytes, host.mac, 6);
    memcpy(bytes + 6, their_mac, 6);
    memcpy(bytes + 22, advertisement + 38, 16);
    memcpy(bytes + 38, advertisement + 22, 16);
    memcpy(bytes + 62, their_ipv6, 16);
    memcpy(bytes + 80, their_mac, 6);
    frame = FINISHED(bytes);
    found = read(&frame, answer);
    assert_int_equal(found.kind, HOST_HEARD);
    assert_int_equal(found.claimed.version, 6);
    assert_memory_equal(found.claimed.bytes, their_ipv6, 16);
    assert_memory_equal(found.claimed_mac, their_mac, 6);
}

/* Gratuitous ARP (RFC 826 and 5944): to everyone, of oneself; a claim, and for nobody. */
static void
an_announcement_is_a_claim(void **state)
{
    static const uint8_t their_ipv4[16] = {THEIR_IPV4};
    uint8_t answer[HOST_FRAME_MAX];
    struct frame frame = FINISHED(arp_request);
    struct host_frame found;

    (void)state;
    memcpy(frame.bytes + 38, their_ipv4, 4);
    found = read(&frame, answer);
    assert_int_equal(found.kind, HOST_NOTHING);
    assert_int_equal(found.claimed.version, 4);
    assert_memory_equal(found.claimed.bytes, their_ipv4, 16);
}

/* Who asks whether an address is taken claims none (RFC 5227), but is told that it is. */
static void
a_probe_is_answered_and_claims_nothing(void **state)
{
    uint8_t answer[HOST_FRAME_MAX];
    struct frame frame = FINISHED(arp_request);
    struct host_frame found;

    (void)state;
    memset(frame.bytes + 28, 0, 4);
    found = read(&frame, answer);
    assert_int_equal(found.kind, HOST_ARP);
    assert_int_equal(found.answer_bytes, 60);
    assert_int_equal(found.claimed.version, 0);
}

static void
a_host_asks_by_its_nearest_address(void **state)
{
    static const uint8_t asked[60] = {ALL_MACS, OUR_MAC, 0x08, 0x06, 0, 1,       0x08,
                                      0,        6,       4,    0,    1, OUR_MAC, OUR_IPV4,
                                      0,        0,       0,    0,    0, 0,       THEIR_IPV4};
    static const uint8_t solicited[86] = {
        0x33, 0x33, 0xff, 0,  0,   0x02,     OUR_MAC,    0x86, 0xdd, 0x60,   0,   0,
        0,    0,    32,   58, 255, OUR_IPV6, 0xff,       0x02, 0,    0,      0,   0,
        0,    0,    0,    0,  0,   1,        0xff,       0,    0,    0x02,   135, 0,
        0,    0,    0,    0,  0,   0,        THEIR_IPV6, 1,    1,    OUR_MAC};
    const struct ip_address four = {.version = 4, .bytes = {THEIR_IPV4}};
    const struct ip_address six = {.version = 6, .bytes = {THEIR_IPV6}};
    const struct ip_address near = {.version = 6, .bytes = {0xfe, 0x80, [15] = 2}};
    const struct frame expected = FINISHED(solicited);
    struct host only_ipv4 = host;
    uint8_t frame[HOST_FRAME_MAX];

    (void)state;
    assert_int_equal(host_frame_ask(&host, &four, frame), 60);
    assert_memory_equal(frame, asked, 60);
    assert_int_equal(host_frame_ask(&host, &six, frame), 86);
    assert_memory_equal(frame, expected.bytes, 86);
    assert_int_equal(host_frame_ask(&host, &near, frame), 86);
    assert_memory_equal(frame + 22, host.addresses[2].bytes, 16);
    only_ipv4.address_count = 1;
    assert_int_equal(host_frame_ask(&only_ipv4, &six, frame), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered),
        cmocka_unit_test(a_host_of_a_vlan_speaks_there_alone),
        cmocka_unit_test(a_damaged_echo_request_gets_no_answer),
        cmocka_unit_test(what_is_cut_short_gets_no_answer),
        cmocka_unit_test(what_is_for_others_gets_no_answer),
        cmocka_unit_test(what_breaks_a_rule_gets_no_answer),
        cmocka_unit_test(who_has_no_address_yet_is_answered_before_all),
        cmocka_unit_test(options_of_an_ipv4_header_are_passed_over),
        cmocka_unit_test(a_long_echo_request_is_answered_and_a_longer_is_not),
        cmocka_unit_test(neighbours_say_where_they_are),
        cmocka_unit_test(an_announcement_is_a_claim),
        cmocka_unit_test(a_probe_is_answered_and_claims_nothing),
        cmocka_unit_test(a_host_asks_by_its_nearest_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
