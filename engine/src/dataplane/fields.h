/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header fields that change per frame, and the Internet checksums that cover them.
 *
 * Frame n of a stream carries base + (n mod flows) * step in each field, so flows
 * need neither a table nor a division. A checksum is moved by the difference of what
 * its fields add to it (RFC 1624, equation 3): a number's 16-bit words sum to the
 * number modulo 0xffff. A result of zero is written as 0xffff, its equal in one's
 * complement, because zero in UDP means "none"; but not in an IPv4 header, where a
 * receiver that recomputes the checksum expects the zero.
 */
#ifndef PLIMSOLL_FIELDS_H
#define PLIMSOLL_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#define FIELDS_MAX 8
#define FIELD_FIXES_MAX 2
#define FIELDS_CHECKSUMS_MAX (FIELDS_MAX * FIELD_FIXES_MAX)
/* Frames written at once, so that compilers vectorise; as many as are sent at once. */
#define FIELDS_BURST 64

struct field {
    uint16_t offset;
    uint16_t width; /* 1 to 8 bytes */
    uint32_t flows;
    uint32_t step;
    uint16_t fixes[FIELD_FIXES_MAX]; /* offsets of the checksums that cover the field */
    uint16_t fix_count;
    /* Derived by fields_prepare(). */
    uint64_t base;
    uint64_t mask;        /* keeps the value within its width */
    uint16_t span_offset; /* the field's 16-bit words, counted from the frame's start */
    uint16_t span_words;
    bool ends_within_word;              /* so that it adds to checksums 2^8 times its value */
    uint8_t checksums[FIELD_FIXES_MAX]; /* the fixes, as indices of fields.checksum */
    uint32_t next;                      /* n mod flows */
};

/* A checksum that one or more fields move. */
struct checksum {
    uint16_t offset;
    uint16_t zero; /* what it is when it comes to zero */
    uint32_t base; /* the one's complement sum of all it covers but the fields */
};

struct fields {
    uint32_t count;
    struct field field[FIELDS_MAX];
    /* Derived by fields_prepare(). */
    uint32_t checksum_count;
    struct checksum checksum[FIELDS_CHECKSUMS_MAX];
};

/*
 * Reads each field's base from the template. Returns 0, or -EINVAL when a field or
 * one of its checksums lies outside the first `length` bytes, a checksum lies at an
 * odd distance from the fields it covers, or two fields share a 16-bit word.
 */
int fields_prepare(struct fields *fields, const uint8_t *frame, uint32_t length);

/* Writes the next values and checksums over `count` copies of the template, at most a burst. */
void fields_write(struct fields *fields, uint8_t *const *frames, uint32_t count);

/* Takes back the last `frames` steps: those frames were built but not sent. */
void fields_rewind(struct fields *fields, uint32_t frames);

#endif
