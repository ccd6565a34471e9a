/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header fields that change per frame, as they are requested.
 *
 * Frame n of a stream takes number i = (first + n) div every mod count of a field's values, or
 * for a random field a number below count that seed and first + n alone decide. The value is
 * base + i * step, where the base is what the template has under the mask; in a list it is
 * the i-th of these. It is shifted to the mask's lowest bit and cut to the mask; all
 * other bits stay as they are. So 2^24 flows need neither a table nor a division. Random
 * fields with the same seed take the same numbers if their counts are the same.
 *
 * With churn an increment's values in use are a window of `count`, which moves on by
 * `churn` / 2^32 values a frame: with w = floor(n * churn / 2^32) frame n takes number
 * i = (w + (first + n - w) mod count) mod cycle. So each value stays for as long as the window
 * takes to pass it, in its turn among the others, and then makes room for a new one.
 */
#ifndef PLIMSOLL_FIELDS_H
#define PLIMSOLL_FIELDS_H

#include <stdint.h>

#define FIELDS_MAX 8
#define FIELD_FIXES_MAX 2
#define FIELD_COUNT_MAX (UINT32_C(1) << 24)
/* New values a frame: more than one where queues share a stream, whose window is one. */
#define FIELD_CHURN_MAX 64
#define FIELD_CHURN_ONE (UINT64_C(1) << 32)

/* The frames until an increment or a list begins anew. */
#define field_cycle(field) ((uint64_t)(field)->count * ((field)->every > 1 ? (field)->every : 1))

enum field_kind { FIELD_INCREMENT, FIELD_LIST, FIELD_RANDOM };

struct field {
    uint16_t offset;
    uint16_t width; /* 1 to 8 bytes, big-endian */
    enum field_kind kind;
    uint32_t count; /* of values: 1 to FIELD_COUNT_MAX */
    uint64_t first; /* below count * every, unless random */
    uint32_t every; /* frames in turn that share a value, up to FIELD_COUNT_MAX; 0 as 1 */
    uint32_t step;
    uint64_t seed;
    uint64_t churn;         /* of an increment: new values a frame, in 2^-32; 0 for none */
    uint32_t cycle;         /* with churn: how many values there are in all, from count on */
    uint64_t mask;          /* the bits of `width` bytes that change: one run of ones */
    const uint64_t *values; /* FIELD_LIST: `count` of them, the caller's */
    uint16_t fix_count;
    uint16_t fixes[FIELD_FIXES_MAX]; /* offsets of the checksums that cover the field */
};

struct fields {
    uint32_t count;
    struct field field[FIELDS_MAX];
};

#endif
