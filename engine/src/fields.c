/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

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

static void
store_big_endian(uint8_t *at, uint32_t width, uint64_t value)
{
    if (width == 4) {
        const uint32_t swapped = __builtin_bswap32((uint32_t)value);

        memcpy(at, &swapped, sizeof(swapped));
        return;
    }
    for (uint32_t i = width; i > 0; i--, value >>= 8)
        at[i - 1] = (uint8_t)value;
}

static uint32_t
fold(uint32_t sum)
{
    sum = (sum >> 16) + (sum & UINT16_MAX);
    return (sum >> 16) + (sum & UINT16_MAX);
}

/* The words' one's complement sum, in memory's byte order as the checksum itself is. */
static uint32_t
sum_words(const uint8_t *at, uint32_t words)
{
    uint32_t sum = 0;
    uint16_t word;

    for (uint32_t i = 0; i < words; i++) {
        memcpy(&word, at + 2 * i, sizeof(word));
        sum += word;
    }
    return fold(sum);
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

static void
fix_checksum(uint8_t *at, uint32_t difference, uint16_t zero)
{
    uint16_t checksum;

    memcpy(&checksum, at, sizeof(checksum));
    checksum = (uint16_t)~fold((uint16_t)~checksum + difference);
    if (checksum == 0)
        checksum = zero;
    memcpy(at, &checksum, sizeof(checksum));
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
    const uint32_t may_be_zero = ipv4_checksum_offset(frame, length);

    field->span_offset = (uint16_t)begin;
    field->span_words = (uint16_t)((end - begin + 1) / 2);
    for (uint32_t i = 0; i < field->fix_count; i++) {
        if (field->fixes[i] + 2u > length || field->fixes[i] % 2 != odd)
            return -EINVAL;
        field->zeros[i] = field->fixes[i] == may_be_zero ? 0 : UINT16_MAX;
    }
    if (begin + 2u * field->span_words > length)
        return -EINVAL;
    field->base = load_big_endian(frame + field->offset, field->width);
    field->mask = UINT64_MAX >> (64 - 8 * field->width);
    field->span_base_complement = (uint16_t)~sum_words(frame + begin, field->span_words);
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
    for (uint32_t i = 0; i < fields->count; i++) {
        const int status = prepare_field(&fields->field[i], frame, length);

        if (status != 0)
            return status;
        for (uint32_t other = 0; other < i; other++) {
            if (spans_overlap(&fields->field[other], &fields->field[i]))
                return -EINVAL;
        }
    }
    return 0;
}

void
fields_write(struct fields *fields, uint8_t *frame)
{
    for (uint32_t i = 0; i < fields->count; i++) {
        struct field *field = &fields->field[i];
        const uint64_t value = field->base + (uint64_t)field->next * field->step;

        field->next = field->next + 1 < field->flows ? field->next + 1 : 0;
        store_big_endian(frame + field->offset, field->width, value & field->mask);
        if (field->fix_count == 0)
            continue;
        const uint32_t difference =
            sum_words(frame + field->span_offset, field->span_words) + field->span_base_complement;
        for (uint32_t fix = 0; fix < field->fix_count; fix++)
            fix_checksum(frame + field->fixes[fix], difference, field->zeros[fix]);
    }
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
