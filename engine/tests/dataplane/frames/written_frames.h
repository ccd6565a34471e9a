/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields as tests ask for them, and frames as they must come out: each value worked out
 * from the protocol's words, put in place bit by bit, and each checksum summed anew.
 */
#ifndef PLIMSOLL_WRITTEN_FRAMES_H
#define PLIMSOLL_WRITTEN_FRAMES_H

#include <stdbool.h>
#include <string.h>

#include "dataplane/frames/frame_fields.h"
#include "internet_checksum.h"
#include "seeded_random.h"
#include "unit_test.h"

#define FRAME_BYTES 60
#define WRITABLE 42 /* without the signature */
#define SRC_IP (IPV4_AT + 12)
#define DST_IP (IPV4_AT + 16)
#define SRC_PORT UDP_AT
#define DST_PORT (UDP_AT + 2)

/* A stream of one template, which may be of any size up to this. */
#define TEMPLATE_MAX 256

struct written_stream {
    struct fields fields;
    struct frame_fields prepared;
    struct field_counters counters;
    uint8_t template[TEMPLATE_MAX];
    uint32_t bytes; /* without the signature */
};

/* All bits of so many bytes, even of none or too many. */
static inline uint64_t
whole_mask(uint16_t width)
{
    uint64_t mask = 0;

    for (uint16_t i = 0; i < width; i++)
        mask = mask << 8 | UINT8_MAX;
    return mask;
}

static inline struct field
field(uint16_t offset, uint16_t width, uint32_t count, uint32_t step)
{
    return (struct field){
        .offset = offset, .width = width, .count = count, .step = step, .mask = whole_mask(width)};
}

static inline struct field
with_fixes(struct field one, uint16_t count, uint16_t first, uint16_t second)
{
    one.fix_count = count;
    one.fixes[0] = first;
    one.fixes[1] = second;
    return one;
}

static inline struct field
with_mask(struct field one, uint64_t mask)
{
    one.mask = mask;
    return one;
}

static inline struct field
ip_field(uint16_t offset, uint32_t count, uint32_t step)
{
    return with_fixes(field(offset, 4, count, step), 2, IPV4_CHECKSUM_AT, UDP_CHECKSUM_AT);
}

static inline struct field
port_field(uint16_t offset, uint32_t count, uint32_t step)
{
    return with_fixes(field(offset, 2, count, step), 1, UDP_CHECKSUM_AT, 0);
}

static inline uint64_t
big_endian(const uint8_t *at, uint32_t width)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < width; i++)
        value = value * 256 + at[i];
    return value;
}

/* The bits under a mask, gathered one by one. */
static inline uint64_t
bits_under(uint64_t mask, uint64_t bytes)
{
    uint64_t value = 0;

    for (uint32_t bit = 64; bit > 0; bit--) {
        if (mask >> (bit - 1) & 1)
            value = value * 2 + (bytes >> (bit - 1) & 1);
    }
    return value;
}

/* What the field's number `i` is, cut to as many bits as the mask has. */
static inline uint64_t
value_number(const struct field *one, const uint8_t *template, uint32_t i)
{
    const uint64_t base = bits_under(one->mask, big_endian(template + one->offset, one->width));
    const int bits = __builtin_popcountll(one->mask);
    const uint64_t value =
        one->kind == FIELD_LIST ? one->values[i] : base + (uint64_t)i * one->step;

    return bits == 64 ? value : value % (UINT64_C(1) << bits);
}

static inline uint64_t
carried(const struct field *one, const uint8_t *frame)
{
    return bits_under(one->mask, big_endian(frame + one->offset, one->width));
}

static inline void
start_stream(struct written_stream *stream)
{
    assert_int_equal(
        frame_fields_prepare(&stream->prepared, &stream->fields, stream->template, stream->bytes),
        0);
    field_counters_start(&stream->counters, &stream->fields);
}

/* A stream of make_frame()'s smallest frame. */
static inline struct written_stream
stream_of(uint32_t count, const struct field *fields)
{
    struct written_stream stream = {.fields = {.count = count}, .bytes = WRITABLE};

    if (count > 0)
        memcpy(stream.fields.field, fields, count * sizeof(fields[0]));
    make_frame(stream.template, FRAME_BYTES);
    start_stream(&stream);
    return stream;
}

/* Writes the next frame over a copy of the template, as long as a template may be. */
static inline void
write_next(struct written_stream *stream, uint8_t *frame)
{
    memcpy(frame, stream->template, TEMPLATE_MAX);
    frame_fields_write(&stream->prepared, &stream->fields, &stream->counters, &frame, 1);
}

static inline void
assert_checksums(const uint8_t *frame)
{
    assert_int_equal(read_word(frame + IPV4_CHECKSUM_AT), ipv4_checksum(frame));
    assert_int_equal(read_word(frame + UDP_CHECKSUM_AT), udp_checksum(frame));
}

/* What frame `number` must be, checked field by field. Not for random ones. */
static inline void
check_frame(const struct written_stream *stream, const uint8_t *frame, uint64_t number)
{
    for (uint32_t i = 0; i < stream->fields.count; i++) {
        const struct field *one = &stream->fields.field[i];
        const uint32_t turn = (uint32_t)((one->first + number) % one->count);

        assert_int_equal(carried(one, frame), value_number(one, stream->template, turn));
    }
    assert_checksums(frame);
}

/* Writes `count` frames from number `first` on, in bursts of every size. */
static inline void
write_and_check(struct written_stream *stream, uint64_t first, uint64_t count)
{
    uint8_t frames[FIELDS_BURST][FRAME_BYTES];
    uint8_t *burst[FIELDS_BURST];
    uint64_t number = first;

    for (uint32_t i = 0; i < FIELDS_BURST; i++)
        burst[i] = frames[i];
    for (uint32_t size = 1; number < first + count; size = size % FIELDS_BURST + 1) {
        const uint64_t left = first + count - number;
        const uint32_t now = left < size ? (uint32_t)left : size;

        for (uint32_t i = 0; i < now; i++)
            memcpy(frames[i], stream->template, FRAME_BYTES);
        frame_fields_write(&stream->prepared, &stream->fields, &stream->counters, burst, now);
        for (uint32_t i = 0; i < now; i++)
            check_frame(stream, frames[i], number++);
    }
}

#endif
