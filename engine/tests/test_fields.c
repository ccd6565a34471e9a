/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/fields.h"

#include <stdbool.h>
#include <string.h>

#include "internet_checksum.h"
#include "seeded_random.h"
#include "unit_test.h"

#define FRAME_BYTES 60
#define WRITABLE 42 /* without the signature */
#define SRC_IP (IPV4_AT + 12)
#define DST_IP (IPV4_AT + 16)
#define SRC_PORT UDP_AT
#define DST_PORT (UDP_AT + 2)

static struct field
field(uint16_t offset, uint16_t width, uint32_t flows, uint32_t step)
{
    return (struct field){.offset = offset, .width = width, .flows = flows, .step = step};
}

static struct field
ip_field(uint16_t offset, uint32_t flows, uint32_t step)
{
    struct field made = field(offset, 4, flows, step);

    made.fix_count = 2;
    made.fixes[0] = IPV4_CHECKSUM_AT;
    made.fixes[1] = UDP_CHECKSUM_AT;
    return made;
}

static struct field
port_field(uint16_t offset, uint32_t flows, uint32_t step)
{
    struct field made = field(offset, 2, flows, step);

    made.fix_count = 1;
    made.fixes[0] = UDP_CHECKSUM_AT;
    return made;
}

static uint64_t
big_endian(const uint8_t *at, uint32_t width)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < width; i++)
        value = value * 256 + at[i];
    return value;
}

/* What frame `number` carries there, by the protocol's words. */
static uint64_t
expected(const uint8_t *template, const struct field *field, uint64_t number)
{
    uint64_t value =
        big_endian(template + field->offset, field->width) + number % field->flows * field->step;

    if (field->width < 8)
        value %= UINT64_C(1) << 8 * field->width;
    return value;
}

static void
assert_checksums(const uint8_t *frame)
{
    assert_int_equal(read_word(frame + IPV4_CHECKSUM_AT), ipv4_checksum(frame));
    assert_int_equal(read_word(frame + UDP_CHECKSUM_AT), udp_checksum(frame));
}

/* What frame `number` must be, checked field by field. */
static void
check_frame(const struct fields *fields, const uint8_t *template, uint8_t *frame, uint64_t number)
{
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct field *one = &fields->field[i];

        assert_int_equal(big_endian(frame + one->offset, one->width),
                         expected(template, one, number));
    }
    assert_checksums(frame);
}

/* Writes `count` frames over fresh copies of the template, in bursts of every size. */
static void
write_and_check(struct fields *fields, const uint8_t *template, uint64_t first, uint64_t count)
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
            memcpy(frames[i], template, FRAME_BYTES);
        fields_write(fields, burst, now);
        for (uint32_t i = 0; i < now; i++)
            check_frame(fields, template, frames[i], number++);
    }
}

/* Writes one frame. */
static void
write_one(struct fields *fields, uint8_t *frame)
{
    fields_write(fields, &frame, 1);
}

static void
the_first_frame_is_the_template(void **state)
{
    struct fields fields = {.count = 1, .field = {ip_field(DST_IP, 1024, 1)}};
    uint8_t template[FRAME_BYTES], frame[FRAME_BYTES];

    (void)state;
    make_frame(template, FRAME_BYTES);
    memcpy(frame, template, FRAME_BYTES);
    assert_int_equal(fields_prepare(&fields, template, WRITABLE), 0);
    write_one(&fields, frame);
    assert_memory_equal(frame, template, FRAME_BYTES);
}

static void
values_wrap_at_flows(void **state)
{
    struct fields fields = {.count = 1, .field = {port_field(SRC_PORT, 3, 10)}};
    const uint16_t ports[] = {0xc020, 0xc02a, 0xc034, 0xc020, 0xc02a, 0xc034, 0xc020};
    uint8_t template[FRAME_BYTES], frame[FRAME_BYTES];

    (void)state;
    make_frame(template, FRAME_BYTES);
    assert_int_equal(fields_prepare(&fields, template, WRITABLE), 0);
    for (uint32_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        memcpy(frame, template, FRAME_BYTES);
        write_one(&fields, frame);
        assert_int_equal(read_word(frame + SRC_PORT), ports[i]);
        assert_int_equal(read_word(frame + DST_PORT), 0xc021);
    }
}

/* Every width at every offset of the addresses, over bases about to carry and to wrap. */
static void
all_widths_carry_and_wrap_within_their_bytes(void **state)
{
    (void)state;
    for (uint16_t width = 1; width <= 8; width++) {
        for (uint16_t offset = 0; offset + width <= ETHERNET_BYTES - 2; offset++) {
            struct fields fields = {.count = 1, .field = {field(offset, width, 1000, 257)}};
            uint8_t template[FRAME_BYTES], frame[FRAME_BYTES];

            make_frame(template, FRAME_BYTES);
            memset(template + offset, 0xff, width);
            template[offset + width - 1] = 0x10;
            assert_int_equal(fields_prepare(&fields, template, WRITABLE), 0);
            write_and_check(&fields, template, 0, 2500);

            memcpy(frame, template, FRAME_BYTES);
            write_one(&fields, frame);
            memcpy(frame + offset, template + offset, width);
            assert_memory_equal(frame, template, FRAME_BYTES); /* nothing beside the field */
        }
    }
}

/* All 65536 values of the low half of an address: each checksum passes every value. */
static void
checksums_are_right_for_every_value_of_a_word(void **state)
{
    struct fields fields = {.count = 1, .field = {ip_field(DST_IP, 1 << 16, 1)}};
    uint8_t template[FRAME_BYTES];

    (void)state;
    make_frame(template, FRAME_BYTES);
    assert_int_equal(fields_prepare(&fields, template, WRITABLE), 0);
    write_and_check(&fields, template, 0, 2 << 16);
}

static void
several_fields_change_at_once(void **state)
{
    struct fields fields = {
        .count = 6,
        .field =
            {
                ip_field(SRC_IP, 5000, 7),
                ip_field(DST_IP, 1024, 65537),
                port_field(SRC_PORT, 331, 3),
                port_field(DST_PORT, 64000, 1),
                field(0, 6, 77, 1),
                field(6, 6, 1 << 24, UINT32_MAX),
            },
    };
    uint8_t template[FRAME_BYTES];

    (void)state;
    make_frame(template, FRAME_BYTES);
    assert_int_equal(fields_prepare(&fields, template, WRITABLE), 0);
    write_and_check(&fields, template, 0, 100000);
}

/* Fields of any width and alignment over the addresses and ports, their bases random. */
static void
checksums_are_right_for_fields_anywhere(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint32_t round = 0; round < 2000; round++) {
        const uint16_t width = (uint16_t)(1 + random_below(&seed, 8));
        const uint16_t offset = (uint16_t)(SRC_IP + random_below(&seed, 9 - width));
        struct fields fields = {.count = 1, .field = {ip_field(offset, 200, 1)}};
        uint8_t template[FRAME_BYTES];

        fields.field[0].width = width;
        fields.field[0].step = (uint32_t)(1 + random_below(&seed, UINT32_MAX));
        make_frame(template, FRAME_BYTES);
        for (uint32_t i = 0; i < 8; i++)
            template[SRC_IP + i] = (uint8_t)random_next(&seed);
        write_word(template + IPV4_CHECKSUM_AT, ipv4_checksum(template));
        write_word(template + UDP_CHECKSUM_AT, udp_checksum(template));
        assert_int_equal(fields_prepare(&fields, template, WRITABLE), 0);
        write_and_check(&fields, template, 0, 250);
    }
}

/* Behind one VLAN tag and behind two. */
static void
checksums_are_right_behind_vlan_tags(void **state)
{
    static const uint8_t tags[] = {0x88, 0xa8, 0, 100, 0x81, 0x00, 0, 200};

    (void)state;
    for (uint16_t tagged = 4; tagged <= sizeof(tags); tagged += 4) {
        struct fields fields = {.count = 1, .field = {ip_field(DST_IP + tagged, 1 << 16, 1)}};
        uint8_t plain[FRAME_BYTES], template[FRAME_BYTES + sizeof(tags)], frame[sizeof(template)];

        make_frame(plain, FRAME_BYTES);
        memcpy(template, plain, 12);
        memcpy(template + 12, tags + sizeof(tags) - tagged, tagged);
        memcpy(template + 12 + tagged, plain + 12, FRAME_BYTES - 12);
        fields.field[0].fixes[0] += tagged;
        fields.field[0].fixes[1] += tagged;
        assert_int_equal(fields_prepare(&fields, template, WRITABLE + tagged), 0);
        for (uint64_t number = 0; number < 1 << 16; number++) {
            memcpy(frame, template, FRAME_BYTES + tagged);
            write_one(&fields, frame);
            assert_checksums(frame + tagged);
        }
    }
}

/* A frame one byte off, as behind an odd header: the words begin at odd offsets. */
static void
checksums_at_odd_offsets_cover_odd_words(void **state)
{
    struct fields fields = {.count = 1, .field = {ip_field(DST_IP + 1, 1 << 16, 3)}};
    uint8_t template[FRAME_BYTES + 1] = {0}, frame[FRAME_BYTES + 1];

    (void)state;
    make_frame(template + 1, FRAME_BYTES);
    fields.field[0].fixes[0] = IPV4_CHECKSUM_AT + 1;
    fields.field[0].fixes[1] = UDP_CHECKSUM_AT + 1;
    assert_int_equal(fields_prepare(&fields, template, WRITABLE + 1), 0);
    for (uint64_t number = 0; number < 70000; number++) {
        memcpy(frame, template, sizeof(frame));
        write_one(&fields, frame);
        assert_int_equal(big_endian(frame + 1 + DST_IP, 4),
                         big_endian(template + 1 + DST_IP, 4) + number % (1 << 16) * 3);
        assert_int_equal(words_sum(frame + 1 + IPV4_AT, IPV4_BYTES), 0xffff);
        assert_int_equal(read_word(frame + 1 + UDP_CHECKSUM_AT), udp_checksum(frame + 1));
    }
}

static void
rewinding_takes_back_the_last_frames(void **state)
{
    struct fields fields = {
        .count = 3,
        .field = {ip_field(DST_IP, 1000, 1), port_field(SRC_PORT, 7, 1), field(0, 6, 1, 5)},
    };
    uint8_t template[FRAME_BYTES];
    uint64_t seed = 2, number = 0;

    (void)state;
    make_frame(template, FRAME_BYTES);
    assert_int_equal(fields_prepare(&fields, template, WRITABLE), 0);
    for (uint32_t round = 0; round < 1000; round++) {
        const uint64_t burst = 1 + random_below(&seed, 64);
        const uint64_t unsent = random_below(&seed, burst + 1);

        write_and_check(&fields, template, number, burst);
        fields_rewind(&fields, (uint32_t)unsent);
        number += burst - unsent;
    }
}

static void
no_fields_leave_the_frame_alone(void **state)
{
    struct fields fields = {0};
    uint8_t template[FRAME_BYTES], frame[FRAME_BYTES];

    (void)state;
    make_frame(template, FRAME_BYTES);
    memcpy(frame, template, FRAME_BYTES);
    assert_int_equal(fields_prepare(&fields, template, WRITABLE), 0);
    write_one(&fields, frame);
    fields_rewind(&fields, 64);
    assert_memory_equal(frame, template, FRAME_BYTES);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_frame_is_the_template),
        cmocka_unit_test(values_wrap_at_flows),
        cmocka_unit_test(all_widths_carry_and_wrap_within_their_bytes),
        cmocka_unit_test(checksums_are_right_for_every_value_of_a_word),
        cmocka_unit_test(several_fields_change_at_once),
        cmocka_unit_test(checksums_are_right_for_fields_anywhere),
        cmocka_unit_test(checksums_are_right_behind_vlan_tags),
        cmocka_unit_test(checksums_at_odd_offsets_cover_odd_words),
        cmocka_unit_test(rewinding_takes_back_the_last_frames),
        cmocka_unit_test(no_fields_leave_the_frame_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
