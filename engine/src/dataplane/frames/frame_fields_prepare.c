/* SPDX-License-Identifier: Apache-2.0 */
/* What does not change from frame to frame, read from a template. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/frames/frame_fields.h"
#include "dataplane/frames/ones_complement.h"

#define PROTOCOL_UDP 17

static uint64_t
load_big_endian(const uint8_t *at, uint32_t width)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < width; i++)
        value = value << 8 | at[i];
    return value;
}

static bool
is_run_of_ones(uint64_t mask)
{
    if (mask == 0)
        return false;
    const uint64_t run = mask >> __builtin_ctzll(mask);
    return (run & (run + 1)) == 0;
}

static bool
has_sound_churn(const struct field *field)
{
    return field->churn == 0 ||
           (field->kind == FIELD_INCREMENT && field->churn <= FIELD_CHURN_MAX * FIELD_CHURN_ONE &&
            field->cycle >= field->count && field->cycle <= FIELD_COUNT_MAX);
}

static bool
has_sound_numbers(const struct field *field)
{
    return field->width >= 1 && field->width <= 8 && is_run_of_ones(field->mask) &&
           field->mask <= UINT64_MAX >> (64 - 8 * field->width) && field->count >= 1 &&
           field->count <= FIELD_COUNT_MAX &&
           (field->kind == FIELD_RANDOM || field->first < field_cycle(field)) &&
           field->every <= FIELD_COUNT_MAX &&
           ((field->kind != FIELD_RANDOM && field->churn == 0) || field->every <= 1) &&
           (field->kind != FIELD_LIST || field->values) && has_sound_churn(field) &&
           field->fix_count <= FIELD_FIXES_MAX;
}

/*
 * The field and its checksums. The words of two checksums that cover one field are aligned
 * alike in all headers we know; and one that is given twice would be moved twice.
 */
static bool
lies_within(const struct field *field, uint32_t length)
{
    for (uint32_t i = 0; i < field->fix_count; i++) {
        const int distance = field->fixes[i] - field->fixes[0];

        if (field->fixes[i] + 2u > length || distance % 2 != 0 || (i > 0 && distance == 0))
            return false;
    }
    return (uint32_t)field->offset + field->width <= length;
}

/* The bits that the field changes of the byte at `position`. */
static uint64_t
mask_at(const struct field *field, uint32_t position)
{
    const uint32_t last = field->offset + field->width - 1u;

    if (position < field->offset || position > last)
        return 0;
    return field->mask >> 8 * (last - position) & UINT8_MAX;
}

static bool
share_bits(const struct field *field, const struct field *other)
{
    for (uint32_t i = field->offset; i < (uint32_t)field->offset + field->width; i++) {
        if ((mask_at(field, i) & mask_at(other, i)) != 0)
            return true;
    }
    return false;
}

/* Does a checksum of `field` lie on bits of `other`, or half on one of its checksums? */
static bool
overwrites(const struct field *field, const struct field *other)
{
    for (uint32_t i = 0; i < field->fix_count; i++) {
        const uint32_t offset = field->fixes[i];

        if (mask_at(other, offset) != 0 || mask_at(other, offset + 1) != 0)
            return true;
        for (uint32_t o = 0; o < other->fix_count; o++) {
            if (abs(field->fixes[i] - other->fixes[o]) == 1)
                return true;
        }
    }
    return false;
}

static int
check_fields(const struct fields *fields, uint32_t length)
{
    if (fields->count > FIELDS_MAX || length < 8)
        return -EINVAL;
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct field *field = &fields->field[i];

        if (!has_sound_numbers(field) || !lies_within(field, length) || overwrites(field, field))
            return -EINVAL;
        for (uint32_t other = 0; other < i; other++) {
            if (share_bits(field, &fields->field[other]) ||
                overwrites(field, &fields->field[other]) ||
                overwrites(&fields->field[other], field))
                return -EINVAL;
        }
    }
    return 0;
}

/* Is there an IPv4 header right before `udp`, with or without options, that announces it? */
static bool
follows_ipv4(const uint8_t *frame, uint32_t udp, uint64_t udp_bytes)
{
    for (uint32_t bytes = 20; bytes <= 60 && bytes <= udp; bytes += 4) {
        const uint8_t *header = frame + udp - bytes;

        if (header[0] == (4 << 4 | bytes / 4) && header[9] == PROTOCOL_UDP &&
            load_big_endian(header + 2, 2) == bytes + udp_bytes)
            return true;
    }
    return false;
}

/* An IPv6 header, without extensions? */
static bool
follows_ipv6(const uint8_t *frame, uint32_t udp, uint64_t udp_bytes)
{
    const uint8_t *header;

    if (udp < 40)
        return false;
    header = frame + udp - 40;
    return header[0] >> 4 == 6 && header[6] == PROTOCOL_UDP &&
           load_big_endian(header + 4, 2) == udp_bytes;
}

/* What the checksum at `offset` is written as when it comes to zero. */
static uint16_t
written_zero(const uint8_t *frame, uint32_t offset)
{
    if (offset < 6)
        return 0;
    const uint32_t udp = offset - 6;
    const uint64_t udp_bytes = load_big_endian(frame + udp + 4, 2);

    return follows_ipv4(frame, udp, udp_bytes) || follows_ipv6(frame, udp, udp_bytes) ? UINT16_MAX
                                                                                      : 0;
}

/* The index of the checksum at `offset`, which is taken from the template when it is new. */
static uint8_t
find_checksum(struct frame_fields *prepared, uint16_t offset, const uint8_t *frame)
{
    uint16_t template;
    uint8_t i = 0;

    while (i < prepared->checksum_count && prepared->checksum[i].offset != offset)
        i++;
    if (i == prepared->checksum_count) {
        memcpy(&template, frame + offset, sizeof(template));
        prepared->checksum[i] = (struct checksum){
            .offset = offset,
            .zero = written_zero(frame, offset),
            .base = (uint16_t) ~template,
        };
        prepared->checksum_count++;
    }
    return i;
}

/* Takes the field's bits in the template out of the checksums that it moves. */
static void
prepare_fixes(struct frame_fields *prepared, struct frame_field *made, const struct field *field,
              const uint8_t *frame)
{
    made->ends_word = field->fix_count > 0 && (made->offset + 8 - field->fixes[0]) % 2 == 0;
    for (uint32_t i = 0; i < field->fix_count; i++) {
        made->checksums[i] = find_checksum(prepared, field->fixes[i], frame);
        prepared->checksum[made->checksums[i]].base +=
            (uint16_t)~wide_addend(made->base, made->ends_word);
    }
}

/* The last field's eight bytes begin before it, so as not to reach beyond `length`. */
static void
prepare_field(struct frame_fields *prepared, struct frame_field *made, const struct field *field,
              const uint8_t *frame, uint32_t length)
{
    const uint32_t last = length - 8, offset = field->offset < last ? field->offset : last;
    const uint32_t bytes_behind = offset + 8 - field->offset - field->width;

    made->offset = (uint16_t)offset;
    made->mask = field->mask << 8 * bytes_behind;
    made->shift = (uint8_t)__builtin_ctzll(made->mask);
    made->base = load_big_endian(frame + offset, 8) & made->mask;
    made->step = (uint64_t)field->step << made->shift;
    prepare_fixes(prepared, made, field, frame);
}

int
frame_fields_prepare(struct frame_fields *prepared, const struct fields *fields,
                     const uint8_t *frame, uint32_t length)
{
    const int status = check_fields(fields, length);

    if (status != 0)
        return status;
    *prepared = (struct frame_fields){0};
    for (uint32_t i = 0; i < fields->count; i++)
        prepare_field(prepared, &prepared->field[i], &fields->field[i], frame, length);
    return 0;
}
