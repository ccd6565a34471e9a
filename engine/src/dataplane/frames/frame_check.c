/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/frames/frame_check.h"

#include <string.h>

#define ETHERNET_BYTES 14
#define TAG_BYTES 4
/* Q-in-Q has two, MPLS VPNs have two or three labels; a frame with more is not checked. */
#define TAGS_MAX 8

#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define TYPE_VLAN 0x8100
#define TYPE_QINQ 0x88a8
#define TYPE_QINQ_OLD 0x9100
#define TYPE_MPLS 0x8847
#define TYPE_MPLS_MULTICAST 0x8848

#define PROTOCOL_ICMP 1
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define PROTOCOL_ICMPV6 58

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define TCP_BYTES 20
#define ICMP_BYTES 4

/* Added up at once, so that compilers vectorise. */
#define BLOCK_WORDS 4

static const struct frame_check none = {COVER_NONE, false};

static inline uint32_t
read16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

/*
 * The one's complement sum of the bytes as words in memory's order, unfolded; an odd last
 * byte is the first of its word. Words of 32 bits carry nothing out of 64 in any frame, and
 * fold to the same (RFC 1071, section 2).
 */
static inline uint64_t
sum_bytes(const uint8_t *at, uint32_t bytes)
{
    uint64_t sums[BLOCK_WORDS] = {0}, sum = 0;
    uint32_t words[BLOCK_WORDS], word;
    uint16_t half, byte = 0;

    for (; bytes >= sizeof(words); at += sizeof(words), bytes -= (uint32_t)sizeof(words)) {
        memcpy(words, at, sizeof(words));
        for (uint32_t i = 0; i < BLOCK_WORDS; i++)
            sums[i] += words[i];
    }
    for (; bytes >= sizeof(word); at += sizeof(word), bytes -= (uint32_t)sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        sum += word;
    }
    if (bytes >= sizeof(half)) {
        memcpy(&half, at, sizeof(half));
        sum += half;
        at += sizeof(half);
    }
    if (bytes % 2 != 0)
        memcpy(&byte, at, 1);
    for (uint32_t i = 0; i < BLOCK_WORDS; i++)
        sum += sums[i];
    return sum + byte;
}

/* Whether what a right checksum is part of sums to all ones. */
static inline bool
sums_up(uint64_t sum)
{
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    return sum == UINT16_MAX;
}

/* A number of the pseudo-header as it adds to a sum in memory's order. */
static inline uint64_t
big_endian16(uint32_t value)
{
    const uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};
    uint16_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* Without a header of its own whole, a transport cannot be what was sent. */
static const struct frame_check damaged = {COVER_PACKET, true};

static inline struct frame_check
check_whole(uint64_t sum)
{
    return (struct frame_check){COVER_PACKET, !sums_up(sum)};
}

/*
 * What IP carries: `bytes` at `at`, with the sum of the addresses. `below` is what the
 * headers before it cover.
 */
static inline struct frame_check
check_transport(const uint8_t *at, uint32_t bytes, uint32_t protocol, uint64_t addresses,
                enum frame_cover below)
{
    const uint64_t pseudo = addresses + big_endian16(protocol);

    switch (protocol) {
    case PROTOCOL_UDP:
        if (bytes < UDP_BYTES)
            return damaged;
        const uint32_t length = read16(at + 4);
        if (read16(at + 6) == 0)
            return (struct frame_check){below, false};
        if (length < UDP_BYTES || length > bytes)
            return damaged;
        return check_whole(pseudo + big_endian16(length) + sum_bytes(at, length));
    case PROTOCOL_TCP:
        if (bytes < TCP_BYTES)
            return damaged;
        return check_whole(pseudo + big_endian16(bytes) + sum_bytes(at, bytes));
    case PROTOCOL_ICMPV6:
        if (bytes < ICMP_BYTES)
            return damaged;
        return check_whole(pseudo + big_endian16(bytes) + sum_bytes(at, bytes));
    case PROTOCOL_ICMP:
        return bytes < ICMP_BYTES ? damaged : check_whole(sum_bytes(at, bytes));
    default:
        return (struct frame_check){below, false};
    }
}

static inline struct frame_check
check_ipv4(const uint8_t *at, uint32_t bytes)
{
    if (bytes < IPV4_BYTES)
        return damaged;
    const uint32_t header = (at[0] & 0xfu) * 4, total = read16(at + 2);
    const bool whole = at[0] >> 4 == 4 && header >= IPV4_BYTES && header <= total && total <= bytes;

    if (!whole || !sums_up(sum_bytes(at, header)))
        return damaged;
    /* More fragments, or an offset: the checksum covers what is elsewhere. */
    if ((read16(at + 6) & 0x3fff) != 0)
        return (struct frame_check){COVER_HEADER, false};
    return check_transport(at + header, total - header, at[9], sum_bytes(at + 12, 8), COVER_HEADER);
}

/* Without a checksum of its own. Extension headers are not passed over. */
static inline struct frame_check
check_ipv6(const uint8_t *at, uint32_t bytes)
{
    if (bytes < IPV6_BYTES || at[0] >> 4 != 6)
        return damaged;
    const uint32_t payload = read16(at + 4);

    if (payload > bytes - IPV6_BYTES)
        return damaged;
    return check_transport(at + IPV6_BYTES, payload, at[6], sum_bytes(at + 8, 32), COVER_NONE);
}

/* Behind the labels nothing says what follows; by its first half byte it is IP. */
static struct frame_check
check_labelled(const uint8_t *frame, uint32_t length, uint32_t at)
{
    for (uint32_t labels = 0; labels < TAGS_MAX && at + TAG_BYTES < length; labels++) {
        const bool bottom = (frame[at + 2] & 1) != 0;

        at += TAG_BYTES;
        if (bottom && frame[at] >> 4 == 4)
            return check_ipv4(frame + at, length - at);
        if (bottom)
            return frame[at] >> 4 == 6 ? check_ipv6(frame + at, length - at) : none;
    }
    return none;
}

struct frame_check
frame_check(const uint8_t *frame, uint32_t length)
{
    uint32_t at = ETHERNET_BYTES;

    for (uint32_t tags = 0; tags <= TAGS_MAX && at <= length; tags++) {
        switch (read16(frame + at - 2)) {
        case TYPE_IPV4:
            return check_ipv4(frame + at, length - at);
        case TYPE_IPV6:
            return check_ipv6(frame + at, length - at);
        case TYPE_VLAN:
        case TYPE_QINQ:
        case TYPE_QINQ_OLD:
            at += TAG_BYTES;
            break;
        case TYPE_MPLS:
        case TYPE_MPLS_MULTICAST:
            return check_labelled(frame, length, at);
        default:
            return none;
        }
    }
    return none;
}
