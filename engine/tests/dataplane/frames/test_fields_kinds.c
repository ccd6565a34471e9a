/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that take their values from a list, or at random. */
#include "written_frames.h"

static struct field
list_field(struct field one, const uint64_t *values, uint32_t count)
{
    one.kind = FIELD_LIST;
    one.values = values;
    one.count = count;
    return one;
}

static struct field
random_field(struct field one, uint64_t seed)
{
    one.kind = FIELD_RANDOM;
    one.seed = seed;
    return one;
}

/* A field's base is 0, so that it carries its number. */
static struct written_stream
numbers_of(struct field one)
{
    struct written_stream stream = stream_of(1, &one);

    memset(stream.template, 0, FRAME_BYTES);
    start_stream(&stream);
    return stream;
}

static uint64_t
next_number(struct written_stream *stream)
{
    uint8_t frame[TEMPLATE_MAX];

    write_next(stream, frame);
    return carried(&stream->fields.field[0], frame);
}

static void
a_list_is_taken_in_turn_whatever_the_template_has(void **state)
{
    const uint64_t values[] = {0x0a000001, 0, UINT32_MAX, 0x0a000001, 0x1c0a80101};
    const uint64_t carried_values[] = {0x0a000001, 0, UINT32_MAX, 0x0a000001, 0xc0a80101};
    struct written_stream stream =
        stream_of(1, (struct field[]){list_field(ip_field(DST_IP, 0, 1), values, 5)});
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    for (uint32_t i = 0; i < 23; i++) {
        write_next(&stream, frame);
        assert_int_equal(big_endian(frame + DST_IP, 4), carried_values[i % 5]);
        assert_checksums(frame);
    }
}

/* Lists of every width over addresses and ports, from a first one on, with rewinds. */
static void
lists_of_any_width_have_right_checksums(void **state)
{
    uint64_t seed = 5, values[300];

    (void)state;
    for (uint16_t width = 1; width <= 8; width++) {
        struct field one = field((uint16_t)(SRC_IP + 8 - width), width, 0, 0);
        struct written_stream stream;

        for (uint32_t i = 0; i < 300; i++)
            values[i] = random_next(&seed);
        one = with_fixes(list_field(one, values, 300), 2, IPV4_CHECKSUM_AT, UDP_CHECKSUM_AT);
        one.first = 299;
        stream = stream_of(1, &one);
        write_and_check(&stream, 0, 1000);
        field_counters_rewind(&stream.counters, &stream.fields, 950);
        write_and_check(&stream, 50, 1000);
    }
}

/* Three addresses, and of each the ports go on when the addresses begin anew. */
static void
a_field_goes_on_when_another_has_been_through_its_values(void **state)
{
    struct field address = ip_field(SRC_IP, 3, 1), port = port_field(SRC_PORT, 4, 1);
    struct written_stream stream;
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    port.every = 3;
    stream = stream_of(2, (struct field[]){address, port});
    for (uint32_t n = 0; n < 50; n++) {
        write_next(&stream, frame);
        assert_int_equal(big_endian(frame + SRC_IP, 4) - big_endian(stream.template + SRC_IP, 4),
                         n % 3);
        assert_int_equal(read_word(frame + SRC_PORT), 0xc020 + n / 3 % 4);
        assert_checksums(frame);
    }
}

static void
runs_begin_at_their_first_frame_and_are_taken_back(void **state)
{
    struct field one = field(34, 2, 5, 1);
    struct written_stream stream;

    (void)state;
    one.every = 7;
    one.first = 33;
    stream = numbers_of(one);
    for (uint32_t n = 0; n < 200; n++)
        assert_int_equal(next_number(&stream), (33 + n) / 7 % 5);
    field_counters_rewind(&stream.counters, &stream.fields, 190);
    for (uint32_t n = 10; n < 100; n++)
        assert_int_equal(next_number(&stream), (33 + n) / 7 % 5);
}

/*
 * Rosetta Code's first numbers of SplitMix64 with the seed 1234567, 6457827717110365317,
 * 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821, each
 * times the count over 2^64, rounded down.
 */
static void
random_numbers_are_splitmix64(void **state)
{
    const uint64_t thousand[] = {350, 173, 532, 249, 889};
    const uint64_t millions[] = {5873360, 2913264, 8928956, 4177655, 14923828};
    struct written_stream narrow = numbers_of(random_field(field(34, 2, 1000, 1), 1234567));
    struct written_stream wide = numbers_of(random_field(field(30, 4, 1 << 24, 1), 1234567));

    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(next_number(&narrow), thousand[i]);
        assert_int_equal(next_number(&wide), millions[i]);
    }
}

static void
random_numbers_begin_at_the_first_number(void **state)
{
    struct field one = random_field(field(34, 2, 1000, 1), 1234567);
    struct written_stream stream;

    (void)state;
    one.first = 3;
    stream = numbers_of(one);
    assert_int_equal(next_number(&stream), 249);
    assert_int_equal(next_number(&stream), 889);
}

static void
random_values_step_from_the_base(void **state)
{
    struct written_stream stream =
        stream_of(1, (struct field[]){random_field(port_field(SRC_PORT, 1000, 7), 1234567)});
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    write_next(&stream, frame);
    assert_int_equal(read_word(frame + SRC_PORT), 0xc020 + 350 * 7);
    write_next(&stream, frame);
    assert_int_equal(read_word(frame + SRC_PORT), 0xc020 + 173 * 7);
}

/* Chi-square with 999 degrees of freedom: beyond 1180 lies 1 of 16,000 seeds. */
static void
random_numbers_are_even(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct written_stream stream = numbers_of(random_field(field(34, 2, 1000, 1), seed));
        uint32_t seen[1000] = {0};
        double chi_square = 0;

        for (uint32_t i = 0; i < 1000000; i++) {
            const uint64_t number = next_number(&stream);

            assert_true(number < 1000);
            seen[number]++;
        }
        for (uint32_t i = 0; i < 1000; i++)
            chi_square += (seen[i] - 1000.0) * (seen[i] - 1000.0) / 1000.0;
        assert_true(chi_square > 830 && chi_square < 1180);
    }
}

/* n draws from c values leave c * (1 - 1/c)^n unseen: of as many as values, 36.79 %. */
static void
random_numbers_reach_what_chance_reaches(void **state)
{
    static uint8_t seen[1 << 20];
    struct written_stream stream = numbers_of(random_field(field(30, 4, 1 << 20, 1), 9));
    uint32_t distinct = 0;

    (void)state;
    for (uint32_t i = 0; i < 1 << 20; i++) {
        uint8_t *number = &seen[next_number(&stream)];

        distinct += *number == 0;
        *number = 1;
    }
    /* 2^20 * (1 - 1/e) is 662826; its standard deviation is 319. */
    assert_uint_in_range(distinct, 662826 - 1300, 662826 + 1300);
}

static void
seeds_give_other_numbers_and_the_same_seed_the_same(void **state)
{
    struct written_stream one = numbers_of(random_field(field(30, 4, 1 << 24, 1), 1));
    struct written_stream same = one;
    struct written_stream other = numbers_of(random_field(field(30, 4, 1 << 24, 1), 2));
    uint32_t alike = 0;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t number = next_number(&one);

        assert_int_equal(number, next_number(&same));
        alike += number == next_number(&other);
    }
    assert_true(alike < 2);
}

static void
random_fields_have_right_checksums_in_bursts_and_after_rewinds(void **state)
{
    struct written_stream stream =
        stream_of(2, (struct field[]){random_field(ip_field(SRC_IP, 1 << 24, 1), 3),
                                      random_field(port_field(DST_PORT, 60000, 1), 4)});
    uint8_t frames[FIELDS_BURST][FRAME_BYTES], again[FIELDS_BURST][FRAME_BYTES];
    uint8_t *burst[FIELDS_BURST], *repeat[FIELDS_BURST];
    const uint32_t back = 40;

    (void)state;
    for (uint32_t i = 0; i < FIELDS_BURST; i++) {
        burst[i] = frames[i];
        repeat[i] = again[i];
        memcpy(frames[i], stream.template, FRAME_BYTES);
        memcpy(again[i], stream.template, FRAME_BYTES);
    }
    for (uint32_t round = 0; round < 1000; round++) {
        frame_fields_write(&stream.prepared, &stream.fields, &stream.counters, burst, FIELDS_BURST);
        field_counters_rewind(&stream.counters, &stream.fields, back);
        frame_fields_write(&stream.prepared, &stream.fields, &stream.counters, repeat, back);
        for (uint32_t i = 0; i < FIELDS_BURST; i++)
            assert_checksums(frames[i]);
        assert_memory_equal(again, frames[FIELDS_BURST - back], back * FRAME_BYTES);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_taken_in_turn_whatever_the_template_has),
        cmocka_unit_test(lists_of_any_width_have_right_checksums),
        cmocka_unit_test(a_field_goes_on_when_another_has_been_through_its_values),
        cmocka_unit_test(runs_begin_at_their_first_frame_and_are_taken_back),
        cmocka_unit_test(random_numbers_are_splitmix64),
        cmocka_unit_test(random_numbers_begin_at_the_first_number),
        cmocka_unit_test(random_values_step_from_the_base),
        cmocka_unit_test(random_numbers_are_even),
        cmocka_unit_test(random_numbers_reach_what_chance_reaches),
        cmocka_unit_test(seeds_give_other_numbers_and_the_same_seed_the_same),
        cmocka_unit_test(random_fields_have_right_checksums_in_bursts_and_after_rewinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
