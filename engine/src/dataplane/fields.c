/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/fields.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static uint64_t
load_big_endian(const uint8_t *at, uint32_t width)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < width; i++)
        value = value << 8 | at[i];
    return value;
}

static inline void
store_big_endian(uint8_t *at, uint32_t width, uint64_t value)
{
    for (uint32_t i = width; i > 0; i--, value >>= 8)
        at[i - 1] = (uint8_t)value;
}

/* Brings a sum below 2^32 to at most 0x1fffe; twice, to at most 0xffff. */
static inline uint32_t
fold(uint32_t sum)
{
    return (sum >> 16) + (sum & UINT16_MAX);
}

/*
 * What a value adds to the one's complement sum of 16-bit words in memory's byte order,
 * at most 0xffff. Byte order and odd offsets are factors of 2^8, that is, a swap.
 */
static inline uint32_t
addend(uint32_t value, bool ends_within_word)
{
    const uint32_t sum = fold(fold(value));

    return ends_within_word ? sum : (sum << 8 & UINT16_MAX) | sum >> 8;
}

static inline uint32_t
wide_addend(uint64_t value, bool ends_within_word)
{
    return addend(fold((uint32_t)value) + fold((uint32_t)(value >> 32)), ends_within_word);
}

/* Where the checksum of the IPv4 header is, or 0 in other frames. */
static uint32_t
ipv4_checksum_offset(const uint8_t *frame, uint32_t length)
{
    const uint64_t ipv4 = 0x0800, vlan = 0x8100, service_vlan = 0x88a8;
    uint64_t type = vlan;
    uint32_t at;

    for (at = 12; at + 2 <= length; at += 4) {
        type = load_big_endian(frame + at, 2);
        if (type != vlan && type != service_vlan)
            break;
    }
    return type == ipv4 ? at + 12 : 0;
}

/* The index of the checksum at `offset`, which is taken from the template when it is new. */
static uint8_t
find_checksum(struct fields *fields, uint16_t offset, const uint8_t *frame, uint32_t length)
{
    uint16_t template;
    uint8_t i = 0;

    while (i < fields->checksum_count && fields->checksum[i].offset != offset)
        i++;
    if (i == fields->checksum_count) {
        memcpy(&template, frame + offset, sizeof(template));
        fields->checksum[i] = (struct checksum){
            .offset = offset,
            .zero = offset == ipv4_checksum_offset(frame, length) ? 0 : UINT16_MAX,
            .base = (uint16_t) ~template,
        };
        fields->checksum_count++;
    }
    return i;
}

/* Takes the field's value in the template out of the checksums that it moves. */
static void
prepare_checksums(struct fields *fields, struct field *field, const uint8_t *frame, uint32_t length)
{
    for (uint32_t i = 0; i < field->fix_count; i++) {
        field->checksums[i] = find_checksum(fields, field->fixes[i], frame, length);
        fields->checksum[field->checksums[i]].base +=
            (uint16_t)~wide_addend(field->base, field->ends_within_word);
    }
}

static int
prepare_field(struct field *field, const uint8_t *frame, uint32_t length)
{
    if (field->width < 1 || field->width > 8 || field->offset + field->width > length)
        return -EINVAL;
    /* The words are aligned as the checksums are, which all headers we know agree on. */
    const uint32_t odd = field->fix_count > 0 ? field->fixes[0] % 2 : 0;
    const uint32_t begin = field->offset - (field->offset + odd) % 2;
    const uint32_t end = field->offset + field->width;

    field->span_offset = (uint16_t)begin;
    field->span_words = (uint16_t)((end - begin + 1) / 2);
    for (uint32_t i = 0; i < field->fix_count; i++) {
        if (field->fixes[i] + 2u > length || field->fixes[i] % 2 != odd)
            return -EINVAL;
    }
    if (begin + 2u * field->span_words > length)
        return -EINVAL;
    field->base = load_big_endian(frame + field->offset, field->width);
    field->mask = UINT64_MAX >> (64 - 8 * field->width);
    field->ends_within_word = (end - begin) % 2 != 0;
    field->next = 0;
    return 0;
}

/* Two fields in one 16-bit word would each move a shared checksum by the other's change. */
static bool
spans_overlap(const struct field *a, const struct field *b)
{
    return a->fix_count > 0 && b->fix_count > 0 &&
           a->span_offset < b->span_offset + 2 * b->span_words &&
           b->span_offset < a->span_offset + 2 * a->span_words;
}

int
fields_prepare(struct fields *fields, const uint8_t *frame, uint32_t length)
{
    fields->checksum_count = 0;
    for (uint32_t i = 0; i < fields->count; i++) {
        const int status = prepare_field(&fields->field[i], frame, length);

        if (status != 0)
            return status;
        for (uint32_t other = 0; other < i; other++) {
            if (spans_overlap(&fields->field[other], &fields->field[i]))
                return -EINVAL;
        }
        prepare_checksums(fields, &fields->field[i], frame, length);
    }
    return 0;
}

/* Frame n's n mod flows for the next frames. */
static inline void
count_flows(struct field *field, uint32_t *numbers, uint32_t count)
{
    const uint32_t flows = field->flows;
    uint32_t next = field->next;

    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = next;
        next = next + 1 < flows ? next + 1 : 0;
    }
    field->next = next;
}

/* The common field, an IPv4 address, in loops that compilers vectorise. */
static inline void
write_four_bytes(const struct field *field, uint8_t *const *frames, uint32_t count,
                 const uint32_t *numbers, uint32_t *addends)
{
    const uint32_t base = (uint32_t)field->base, step = field->step, offset = field->offset;
    const bool ends_within_word = field->ends_within_word;
    uint32_t values[FIELDS_BURST];

    for (uint32_t i = 0; i < count; i++) {
        values[i] = base + numbers[i] * step;
        addends[i] = addend(values[i], ends_within_word);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t swapped = __builtin_bswap32(values[i]);

        memcpy(frames[i] + offset, &swapped, sizeof(swapped));
    }
}

static void
write_bytes(const struct field *field, uint8_t *const *frames, uint32_t count,
            const uint32_t *numbers, uint32_t *addends)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t value = (field->base + (uint64_t)numbers[i] * field->step) & field->mask;

        store_big_endian(frames[i] + field->offset, field->width, value);
        addends[i] = wide_addend(value, field->ends_within_word);
    }
}

static inline void
write_field(struct field *field, uint8_t *const *frames, uint32_t count,
            uint32_t (*sums)[FIELDS_BURST])
{
    uint32_t numbers[FIELDS_BURST], addends[FIELDS_BURST];

    count_flows(field, numbers, count);
    if (field->width == 4)
        write_four_bytes(field, frames, count, numbers, addends);
    else
        write_bytes(field, frames, count, numbers, addends);
    for (uint32_t fix = 0; fix < field->fix_count; fix++) {
        for (uint32_t i = 0; i < count; i++)
            sums[field->checksums[fix]][i] += addends[i];
    }
}

static inline void
write_checksum(const struct checksum *checksum, uint8_t *const *frames, uint32_t count,
               const uint32_t *sums)
{
    const uint16_t zero = checksum->zero, offset = checksum->offset;
    uint16_t values[FIELDS_BURST];

    for (uint32_t i = 0; i < count; i++) {
        const uint16_t value = (uint16_t)~fold(fold(sums[i]));

        values[i] = value == 0 ? zero : value;
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy(frames[i] + offset, &values[i], sizeof(values[i]));
}

void
fields_write(struct fields *fields, uint8_t *const *frames, uint32_t count)
{
    uint32_t sums[FIELDS_CHECKSUMS_MAX][FIELDS_BURST];

    for (uint32_t c = 0; c < fields->checksum_count; c++) {
        for (uint32_t i = 0; i < count; i++)
            sums[c][i] = fields->checksum[c].base;
    }
    for (uint32_t f = 0; f < fields->count; f++)
        write_field(&fields->field[f], frames, count, sums);
    for (uint32_t c = 0; c < fields->checksum_count; c++)
        write_checksum(&fields->checksum[c], frames, count, sums[c]);
}

void
fields_rewind(struct fields *fields, uint32_t frames)
{
    for (uint32_t i = 0; i < fields->count; i++) {
        struct field *field = &fields->field[i];
        const uint32_t back = frames % field->flows;

        field->next = (field->next + field->flows - back) % field->flows;
    }
}
