/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a stream (config/fields.h) as they are written into frames, and the Internet
 * checksums that cover them.
 *
 * A random number is SplitMix64's (splitmix.h), reduced to below count by taking the high
 * half of a 128-bit product: no value is more likely than another by over count / 2^64.
 *
 * A checksum is moved by the difference of what its fields add to it (RFC 1624, equation
 * 3): a number's 16-bit words sum to the number modulo 0xffff, and so do the parts of a
 * word, so fields may share a word as long as they share no bit. A template whose checksum
 * is wrong gives frames whose checksums are wrong by as much.
 *
 * A checksum that comes to zero is written as zero, which is what a receiver expects that
 * recomputes it and compares, except in UDP, where zero means "none" (RFC 768) and over
 * IPv6 has the frame dropped (RFC 8200, 8.1): there it is 0xffff, its equal in one's
 * complement. A checksum is UDP's if what precedes it in the template is an IPv4 or IPv6
 * header that announces UDP and agrees with the UDP header's length. Looking back from
 * the checksum finds inner headers behind any encapsulation, and without parsing it.
 */
#ifndef PLIMSOLL_FRAME_FIELDS_H
#define PLIMSOLL_FRAME_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/fields.h"

#define FIELDS_CHECKSUMS_MAX (FIELDS_MAX * FIELD_FIXES_MAX)
/* Frames written at once, so that compilers vectorise; as many as are sent at once. */
#define FIELDS_BURST 64

/*
 * What a field and one template make together. Any field is written as a part of the eight
 * bytes from `offset` on, whatever its width; base, step and mask are shifted to its place.
 */
struct frame_field {
    uint64_t base; /* the template's bits under the mask */
    uint64_t step;
    uint64_t mask;
    uint16_t offset;
    uint8_t shift;  /* of the mask's lowest bit */
    bool ends_word; /* the eight bytes, in the checksums' words: see ones_complement.h */
    uint8_t checksums[FIELD_FIXES_MAX]; /* the fixes, as indices of frame_fields.checksum */
};

/* A checksum that one or more fields move. */
struct checksum {
    uint16_t offset;
    uint16_t zero; /* what it is when it comes to zero */
    uint32_t base; /* the one's complement sum of all it covers but the fields */
};

/* What a stream's fields and one of its templates make together. */
struct frame_fields {
    struct frame_field field[FIELDS_MAX];
    uint32_t checksum_count;
    struct checksum checksum[FIELDS_CHECKSUMS_MAX];
};

/* Where a stream stands in its fields' values. Its templates share it. */
struct field_counters {
    /* first + n, modulo count * every unless random or with churn */
    uint64_t next[FIELDS_MAX];
};

/*
 * Reads each field's base and checksums from a template. Returns 0, or -EINVAL when a
 * field's numbers are out of range, a field or one of its checksums lies outside the first
 * `length` bytes, a field's checksums are the same or do not share an alignment, two fields
 * share a bit, or a checksum lies on bits of a field or half on another checksum.
 */
int frame_fields_prepare(struct frame_fields *prepared, const struct fields *fields,
                         const uint8_t *frame, uint32_t length);

void field_counters_start(struct field_counters *counters, const struct fields *fields);

/*
 * Writes the next values and checksums over `count` copies of the template, at most
 * FIELDS_BURST.
 */
void frame_fields_write(const struct frame_fields *prepared, const struct fields *fields,
                        struct field_counters *counters, uint8_t *const *frames, uint32_t count);

/*
 * The same for 1 to FIELDS_BURST frames of different templates of a stream, in the order in which
 * they are sent: `prepared` has what belongs to each.
 */
void frame_fields_write_mixed(const struct frame_fields *const *prepared,
                              const struct fields *fields, struct field_counters *counters,
                              uint8_t *const *frames, uint32_t count);

/* Takes back the last `frames` steps: those frames were built but not sent. */
void field_counters_rewind(struct field_counters *counters, const struct fields *fields,
                           uint32_t frames);

#endif
