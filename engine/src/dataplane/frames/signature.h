/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 18 bytes every frame of ours ends with (before the FCS), little-endian:
 *
 *   0  mark       16 bits  tells a trial's frames from all others
 *   2  stream     16 bits
 *   4  sequence   48 bits  counts the frames the port accepted
 *  10  time       48 bits  TSC ticks at sending
 *  16  complement 16 bits
 *
 * The nine 16-bit words sum to 0xffff in one's complement, so they add nothing to
 * an enclosing Internet checksum: a UDP checksum computed over the template stays
 * valid for every sequence number and time (the idea of RFC 7820). The sum does not
 * depend on byte order (RFC 1071, section 2), and 64-bit words fold to the same
 * value, so writing and checking take two 64-bit accesses and one 16-bit one.
 *
 * Frames with less room end with a short signature of 12 bytes: the first ten of these, and
 * their complement. It says all but when the frame was sent.
 */
#ifndef PLIMSOLL_SIGNATURE_H
#define PLIMSOLL_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SIGNATURE_BYTES 18
#define SHORT_SIGNATURE_BYTES 12
#define SIGNATURE_BITS48 ((UINT64_C(1) << 48) - 1)

/* How many of a frame's last bytes are the signature's. */
static inline uint32_t
signature_bytes(bool is_short)
{
    return is_short ? SHORT_SIGNATURE_BYTES : SIGNATURE_BYTES;
}

struct signature {
    uint16_t mark;
    uint16_t stream;
    uint64_t sequence;
    uint64_t time;
    bool intact;
};

/* One's complement sum of two 64-bit words, folded to 16 bits: 0 only if both are 0. */
static inline uint16_t
ones_sum(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;

    sum += sum < a;
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 16 & UINT16_MAX) + (sum & UINT16_MAX) + (sum >> 32);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    return (uint16_t)((sum >> 16) + sum);
}

/* A signature as the frame carries it: compared and counted up without being taken apart. */
struct signature_words {
    uint64_t low;
    uint64_t high;
    uint32_t complement; /* 16 bits, or SIGNATURE_OF_NO_FRAME */
};

#define SIGNATURE_OF_NO_FRAME UINT32_MAX

static inline struct signature_words
signature_words(uint16_t mark, uint16_t stream, uint64_t sequence, uint64_t time)
{
    const uint64_t low = mark | (uint64_t)stream << 16 | sequence << 32;
    const uint64_t high = (sequence >> 32 & UINT16_MAX) | time << 16;

    return (struct signature_words){low, high, (uint16_t)~ones_sum(low, high)};
}

/*
 * The signature of the same stream's next sequence number, at the same time. 2^16 is 1
 * modulo 0xffff, so whatever carries, the words' sum grows by one; it is 1 to 0xffff, so
 * its complement is 0 to 0xfffe.
 */
static inline struct signature_words
signature_next(struct signature_words words)
{
    words.low += UINT64_C(1) << 32;
    words.high += words.low >> 32 == 0;
    words.complement = words.complement > 0 ? words.complement - 1 : UINT16_MAX - 1;
    return words;
}

static inline bool
signature_same(struct signature_words a, struct signature_words b)
{
    return ((a.low ^ b.low) | (a.high ^ b.high) | (a.complement ^ b.complement)) == 0;
}

static inline void
signature_store(uint8_t *at, struct signature_words words)
{
    const uint16_t complement = (uint16_t)words.complement;

    memcpy(at, &words.low, sizeof(words.low));
    memcpy(at + 8, &words.high, sizeof(words.high));
    memcpy(at + 16, &complement, sizeof(complement));
}

static inline struct signature_words
signature_load(const uint8_t *at)
{
    struct signature_words words;
    uint16_t complement;

    memcpy(&words.low, at, sizeof(words.low));
    memcpy(&words.high, at + 8, sizeof(words.high));
    memcpy(&complement, at + 16, sizeof(complement));
    words.complement = complement;
    return words;
}

/* The short form of a signature whose time is 0: the same words without the time. */
static inline void
signature_store_short(uint8_t *at, struct signature_words words)
{
    const uint16_t high = (uint16_t)words.high, complement = (uint16_t)words.complement;

    memcpy(at, &words.low, sizeof(words.low));
    memcpy(at + 8, &high, sizeof(high));
    memcpy(at + 10, &complement, sizeof(complement));
}

static inline struct signature_words
signature_load_short(const uint8_t *at)
{
    struct signature_words words;
    uint16_t high, complement;

    memcpy(&words.low, at, sizeof(words.low));
    memcpy(&high, at + 8, sizeof(high));
    memcpy(&complement, at + 10, sizeof(complement));
    words.high = high;
    words.complement = complement;
    return words;
}

static inline struct signature
signature_read(struct signature_words words)
{
    return (struct signature){
        .mark = (uint16_t)words.low,
        .stream = (uint16_t)(words.low >> 16),
        .sequence = words.low >> 32 | (words.high & UINT16_MAX) << 32,
        .time = words.high >> 16,
        .intact = (ones_sum(words.low, words.high) ^ words.complement) == UINT16_MAX,
    };
}

#endif
