/* SPDX-License-Identifier: Apache-2.0 */
/* Internet checksums recomputed in full, as RFC 1071, 791 and 768 say: the tests' oracle. */
#ifndef PLIMSOLL_INTERNET_CHECKSUM_H
#define PLIMSOLL_INTERNET_CHECKSUM_H

#include <stdint.h>

#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define IPV4_AT ETHERNET_BYTES
#define IPV4_CHECKSUM_AT (IPV4_AT + 10)
#define UDP_AT (IPV4_AT + IPV4_BYTES)
#define UDP_CHECKSUM_AT (UDP_AT + 6)

/* The one's complement sum of big-endian words; a last odd byte is padded with zero. */
static inline uint16_t
words_sum(const uint8_t *bytes, uint32_t length)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < length; i++)
        sum += i % 2 == 0 ? (uint64_t)bytes[i] << 8 : bytes[i];
    while (sum >> 16)
        sum = (sum >> 16) + (sum & UINT16_MAX);
    return (uint16_t)sum;
}

static inline uint16_t
read_word(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline void
write_word(uint8_t *at, uint16_t word)
{
    at[0] = (uint8_t)(word >> 8);
    at[1] = (uint8_t)word;
}

/* What the header's checksum has to be. */
static inline uint16_t
ipv4_checksum(const uint8_t *frame)
{
    uint8_t header[IPV4_BYTES];

    for (uint32_t i = 0; i < IPV4_BYTES; i++)
        header[i] = i == 10 || i == 11 ? 0 : frame[IPV4_AT + i];
    return (uint16_t)~words_sum(header, IPV4_BYTES);
}

/* What the datagram's checksum has to be; its length is the UDP header's. */
static inline uint16_t
udp_checksum(const uint8_t *frame)
{
    const uint16_t length = read_word(frame + UDP_AT + 4);
    uint64_t sum = 17u + length; /* the pseudo-header's protocol and length */
    uint16_t checksum;

    sum += words_sum(frame + IPV4_AT + 12, 8);
    sum += words_sum(frame + UDP_AT, length);
    sum += (uint16_t)~read_word(frame + UDP_CHECKSUM_AT); /* takes the one it has out again */
    while (sum >> 16)
        sum = (sum >> 16) + (sum & UINT16_MAX);
    checksum = (uint16_t)~sum;
    return checksum == 0 ? UINT16_MAX : checksum;
}

/*
 * An Ethernet, IPv4 and UDP frame of `length` bytes without FCS, from 198.18.0.1:49184
 * to 198.19.0.1:49185, its payload zero and its checksums right.
 */
static inline void
make_frame(uint8_t *frame, uint16_t length)
{
    static const char head[] = "\x02\0\0\0\0\1\x02\0\0\0\0\0\x08\0" /* Ethernet */
                               "\x45\0\0\0\0\0\x40\0\x40\x11\0\0\xc6\x12\0\1\xc6\x13\0\1" /* IPv4 */
                               "\xc0\x20\xc0\x21\0\0\0";                                  /* UDP */

    for (uint32_t i = 0; i < length; i++)
        frame[i] = i < sizeof(head) ? (uint8_t)head[i] : 0;
    write_word(frame + IPV4_AT + 2, (uint16_t)(length - ETHERNET_BYTES));
    write_word(frame + UDP_AT + 4, (uint16_t)(length - ETHERNET_BYTES - IPV4_BYTES));
    write_word(frame + IPV4_CHECKSUM_AT, ipv4_checksum(frame));
    write_word(frame + UDP_CHECKSUM_AT, udp_checksum(frame));
}

#endif
