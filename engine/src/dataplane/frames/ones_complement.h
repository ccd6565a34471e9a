/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What numbers add to an Internet checksum: RFC 1071's one's complement sum of 16-bit words.
 *
 * A number's words sum to the number modulo 0xffff. So byte order and odd offsets are
 * factors of 2^8, that is, a swap, and the parts of a number may be added one by one.
 */
#ifndef PLIMSOLL_ONES_COMPLEMENT_H
#define PLIMSOLL_ONES_COMPLEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* Brings a sum below 2^32 to at most 0x1fffe; twice, to at most 0xffff. */
static inline uint32_t
fold(uint32_t sum)
{
    return (sum >> 16) + (sum & UINT16_MAX);
}

/*
 * What a big-endian value adds to the sum of words in memory's byte order, at most 0xffff.
 * Does its last byte end a word of the sum, or is it the first byte of one?
 */
static inline uint32_t
addend(uint32_t value, bool ends_word)
{
    const uint32_t sum = fold(fold(value));

    return ends_word ? (sum << 8 & UINT16_MAX) | sum >> 8 : sum;
}

static inline uint32_t
wide_addend(uint64_t value, bool ends_word)
{
    return addend(fold((uint32_t)value) + fold((uint32_t)(value >> 32)), ends_word);
}

#endif
