/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of single bits, alone and together in one word. */
#include "written_frames.h"

#define VLAN_AT 14 /* priority: 3 bits, drop eligible: 1, VLAN id: 12 */

/* A frame behind a VLAN tag of priority 5, drop eligible, id 0xabc. */
static struct written_stream
tagged_stream(uint32_t count, const struct field *fields)
{
    static const uint8_t tag[] = {0x81, 0x00, 0xba, 0xbc};
    struct written_stream stream = stream_of(0, NULL);

    memmove(stream.template + 16, stream.template + 12, FRAME_BYTES - 12);
    memcpy(stream.template + 12, tag, sizeof(tag));
    memcpy(stream.fields.field, fields, count * sizeof(fields[0]));
    stream.fields.count = count;
    stream.bytes += (uint32_t)sizeof(tag);
    start_stream(&stream);
    return stream;
}

static void
bits_beside_the_mask_stay(void **state)
{
    struct written_stream stream =
        tagged_stream(1, (struct field[]){with_mask(field(VLAN_AT, 2, 4096, 1), 0x0fff)});
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        write_next(&stream, frame);
        assert_int_equal(read_word(frame + VLAN_AT), 0xb000 + (0xabc + i) % 4096);
        write_word(frame + VLAN_AT, 0xbabc);
        assert_memory_equal(frame, stream.template, TEMPLATE_MAX);
    }
}

static void
values_are_shifted_to_the_mask(void **state)
{
    struct written_stream stream =
        tagged_stream(1, (struct field[]){with_mask(field(VLAN_AT, 2, 8, 1), 0xe000)});
    const uint16_t tags[] = {0xbabc, 0xdabc, 0xfabc, 0x1abc, 0x3abc, 0x5abc, 0x7abc, 0x9abc};
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        write_next(&stream, frame);
        assert_int_equal(read_word(frame + VLAN_AT), tags[i % 8]);
    }
}

static void
listed_values_are_cut_to_the_mask(void **state)
{
    const uint64_t values[] = {1, 7, 8, UINT64_MAX};
    const uint16_t tags[] = {0x3abc, 0xfabc, 0x1abc, 0xfabc};
    struct field priority = with_mask(field(VLAN_AT, 2, 4, 0), 0xe000);
    struct written_stream stream;
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    priority.kind = FIELD_LIST;
    priority.values = values;
    stream = tagged_stream(1, &priority);
    for (uint32_t i = 0; i < 8; i++) {
        write_next(&stream, frame);
        assert_int_equal(read_word(frame + VLAN_AT), tags[i % 4]);
    }
}

static void
fields_may_share_a_word(void **state)
{
    struct written_stream stream =
        tagged_stream(3, (struct field[]){with_mask(field(VLAN_AT, 2, 4000, 1), 0x0fff),
                                          with_mask(field(VLAN_AT, 2, 7, 1), 0xe000),
                                          with_mask(field(VLAN_AT, 1, 2, 1), 0x10)});
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        const uint32_t priority = (5 + i % 7) % 8, drop = (1 + i % 2) % 2;

        write_next(&stream, frame);
        assert_int_equal(read_word(frame + VLAN_AT),
                         priority << 13 | drop << 12 | (0xabc + i % 4000) % 4096);
    }
}

/* Every run of ones in every width, over bits about to carry and to wrap. */
static void
any_run_of_bits_changes_alone(void **state)
{
    uint64_t seed = 6;

    (void)state;
    for (uint32_t round = 0; round < 3000; round++) {
        const uint16_t width = (uint16_t)(1 + random_below(&seed, 8));
        const uint16_t offset = (uint16_t)random_below(&seed, WRITABLE + 1 - width);
        const uint32_t low = (uint32_t)random_below(&seed, 8 * width);
        const uint32_t bits = (uint32_t)(1 + random_below(&seed, 8 * width - low));
        const uint64_t mask = UINT64_MAX >> (64 - bits) << low;
        const struct field one =
            with_mask(field(offset, width, 40, (uint32_t)random_next(&seed)), mask);
        struct written_stream stream = stream_of(1, &one);
        uint8_t frame[TEMPLATE_MAX];

        for (uint32_t i = 0; i < FRAME_BYTES; i++)
            stream.template[i] = (uint8_t)random_next(&seed);
        start_stream(&stream);
        for (uint32_t i = 0; i < 50; i++) {
            uint64_t changed;

            write_next(&stream, frame);
            assert_int_equal(carried(&one, frame), value_number(&one, stream.template, i % 40));
            changed =
                big_endian(frame + offset, width) ^ big_endian(stream.template + offset, width);
            assert_int_equal(changed & ~mask, 0);
            memcpy(frame + offset, stream.template + offset, width);
            assert_memory_equal(frame, stream.template, TEMPLATE_MAX);
        }
    }
}

/* Addresses in two or three parts at random borders, not of whole bytes, each counting. */
static void
parts_of_checked_words_move_the_checksums_together(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (uint32_t round = 0; round < 1000; round++) {
        const uint32_t low = (uint32_t)(1 + random_below(&seed, 30));
        const uint32_t high = (uint32_t)(low + 1 + random_below(&seed, 31 - low));
        const uint32_t upper = UINT32_MAX << high, lower = UINT32_MAX >> (32 - low);
        const uint32_t step = (uint32_t)random_next(&seed) | 1;
        struct written_stream stream =
            stream_of(4, (struct field[]){with_mask(ip_field(DST_IP, 300, step), lower),
                                          with_mask(ip_field(DST_IP, 77, step), ~(upper | lower)),
                                          with_mask(ip_field(DST_IP, 13, step), upper),
                                          with_mask(port_field(SRC_PORT, 500, 1), 0x0ff0)});

        write_and_check(&stream, 0, 400);
    }
}

/* Parts of one word that belong to fields of different widths and offsets. */
static void
neighbours_that_share_words_do_not_disturb_each_other(void **state)
{
    struct written_stream stream =
        stream_of(3, (struct field[]){with_fixes(field(SRC_IP, 1, 200, 1), 2, 24, 40),
                                      with_fixes(field(SRC_IP + 1, 5, 3000, 77777), 2, 24, 40),
                                      with_fixes(field(SRC_IP + 6, 2, 500, 3), 2, 24, 40)});

    (void)state;
    write_and_check(&stream, 0, 10000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_beside_the_mask_stay),
        cmocka_unit_test(values_are_shifted_to_the_mask),
        cmocka_unit_test(listed_values_are_cut_to_the_mask),
        cmocka_unit_test(fields_may_share_a_word),
        cmocka_unit_test(any_run_of_bits_changes_alone),
        cmocka_unit_test(parts_of_checked_words_move_the_checksums_together),
        cmocka_unit_test(neighbours_that_share_words_do_not_disturb_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
