/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/frames/signature.h"

#include "internet_checksum.h"
#include "seeded_random.h"
#include "unit_test.h"

/*
 * By hand: the words are 1234 0102 e5f6 c3d4 a1b2 5566 3344 1122, which add up to
 * 2f87e; 2 + f87e = f880, whose complement is 077f.
 */
static const uint8_t by_hand[SIGNATURE_BYTES] = {
    0x34, 0x12,                         /* mark */
    0x02, 0x01,                         /* stream */
    0xf6, 0xe5, 0xd4, 0xc3, 0xb2, 0xa1, /* sequence */
    0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* time */
    0x7f, 0x07,                         /* complement */
};

struct sample {
    uint16_t mark;
    uint16_t stream;
    uint64_t sequence;
    uint64_t time;
};

/* The extremes of every field, then random ones. */
static struct sample
sample(uint64_t *state, uint32_t number)
{
    static const uint64_t extremes[] = {0, 1, SIGNATURE_BITS48 - 1, SIGNATURE_BITS48};

    if (number < 64)
        return (struct sample){
            .mark = number & 1 ? 1 : 65534,
            .stream = number & 2 ? 0 : 65535,
            .sequence = extremes[number >> 2 & 3],
            .time = extremes[number >> 4 & 3],
        };
    return (struct sample){
        .mark = (uint16_t)(1 + random_below(state, 65534)),
        .stream = (uint16_t)random_next(state),
        .sequence = random_next(state) & SIGNATURE_BITS48,
        .time = random_next(state) & SIGNATURE_BITS48,
    };
}

static void
write_sample(uint8_t *at, const struct sample *sample)
{
    signature_store(at,
                    signature_words(sample->mark, sample->stream, sample->sequence, sample->time));
}

static void
every_byte_is_where_the_layout_says(void **state)
{
    uint8_t bytes[SIGNATURE_BYTES];

    (void)state;
    signature_store(
        bytes, signature_words(0x1234, 0x0102, UINT64_C(0xa1b2c3d4e5f6), UINT64_C(0x112233445566)));
    assert_memory_equal(bytes, by_hand, sizeof(by_hand));
}

static void
reading_gives_back_what_was_written(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        const struct sample expected = sample(&seed, i);
        uint8_t bytes[SIGNATURE_BYTES];

        write_sample(bytes, &expected);
        const struct signature read = signature_read(signature_load(bytes));
        assert_true(read.intact);
        assert_int_equal(read.mark, expected.mark);
        assert_int_equal(read.stream, expected.stream);
        assert_int_equal(read.sequence, expected.sequence);
        assert_int_equal(read.time, expected.time);
    }
}

static void
a_sequence_or_time_beyond_48_bits_disturbs_no_neighbour(void **state)
{
    uint8_t bytes[SIGNATURE_BYTES];

    (void)state;
    signature_store(bytes, signature_words(7, 8, SIGNATURE_BITS48 + 10, UINT64_MAX - 4));
    const struct signature read = signature_read(signature_load(bytes));
    assert_true(read.intact);
    assert_int_equal(read.mark, 7);
    assert_int_equal(read.stream, 8);
    assert_int_equal(read.sequence, 9);
    assert_int_equal(read.time, SIGNATURE_BITS48 - 4);
}

static void
the_words_sum_to_ffff(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        const struct sample any = sample(&seed, i);
        uint8_t bytes[SIGNATURE_BYTES];

        write_sample(bytes, &any);
        assert_int_equal(words_sum(bytes, sizeof(bytes)), 0xffff);
    }
}

/* Frames of even and of odd length put the signature at even and odd offsets. */
static void
the_template_udp_checksum_stays_valid(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        const struct sample any = sample(&seed, i);
        const uint16_t length = (uint16_t)(60 + random_below(&seed, 140));
        uint8_t frame[200];

        make_frame(frame, length);
        for (uint32_t at = UDP_AT + 8; at + SIGNATURE_BYTES < length; at++)
            frame[at] = (uint8_t)random_next(&seed);
        write_word(frame + UDP_CHECKSUM_AT, udp_checksum(frame));
        write_sample(frame + length - SIGNATURE_BYTES, &any);
        assert_int_equal(read_word(frame + UDP_CHECKSUM_AT), udp_checksum(frame));
    }
}

static void
every_flipped_bit_is_noticed(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const struct sample any = sample(&seed, i);
        uint8_t bytes[SIGNATURE_BYTES];

        write_sample(bytes, &any);
        for (uint32_t bit = 0; bit < 8 * SIGNATURE_BYTES; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_false(signature_read(signature_load(bytes)).intact);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_true(signature_read(signature_load(bytes)).intact);
    }
}

static void
neither_zeros_nor_ones_are_a_signature(void **state)
{
    uint8_t bytes[SIGNATURE_BYTES];

    (void)state;
    memset(bytes, 0, sizeof(bytes));
    assert_false(signature_read(signature_load(bytes)).intact);
    memset(bytes, 0xff, sizeof(bytes));
    assert_false(signature_read(signature_load(bytes)).intact);
}

/* Across the carries of every word of the sequence, and the sum's wrap. */
static void
counting_up_is_writing_the_next_number(void **state)
{
    static const uint64_t before_carries[] = {0, 0xfff0, 0xfffffff0, UINT64_C(0xfffffffffff0 - 64)};
    uint64_t seed = 2;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        struct sample at = sample(&seed, 64);

        at.sequence = i < 400 ? before_carries[i % 4] : at.sequence & (SIGNATURE_BITS48 >> 1);
        struct signature_words words = signature_words(at.mark, at.stream, at.sequence, at.time);
        for (uint32_t step = 1; step <= 64; step++) {
            words = signature_next(words);
            assert_true(signature_same(
                words, signature_words(at.mark, at.stream, at.sequence + step, at.time)));
        }
    }
}

/* All sums there are: the one that is written as 0xffff is among them. */
static void
counting_up_passes_every_sum(void **state)
{
    struct signature_words words = signature_words(1, 0, 0, 0);

    (void)state;
    for (uint64_t sequence = 1; sequence <= 0x20000; sequence++) {
        words = signature_next(words);
        assert_true(signature_same(words, signature_words(1, 0, sequence, 0)));
    }
}

/* The first ten bytes by hand, with a complement of their own: words 1234 0102 e5f6 c3d4 a1b2. */
static void
a_short_signature_is_the_full_one_without_its_time(void **state)
{
    static const uint8_t expected[SHORT_SIGNATURE_BYTES] = {0x34, 0x12, 0x02, 0x01, 0xf6, 0xe5,
                                                            0xd4, 0xc3, 0xb2, 0xa1, 0x4b, 0xa1};
    uint8_t bytes[SHORT_SIGNATURE_BYTES];

    (void)state;
    signature_store_short(bytes, signature_words(0x1234, 0x0102, UINT64_C(0xa1b2c3d4e5f6), 0));
    assert_memory_equal(bytes, expected, sizeof(expected));
    assert_int_equal(words_sum(bytes, sizeof(bytes)), 0xffff);
}

static void
a_short_signature_is_read_as_it_was_written(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        const struct sample any = sample(&seed, i);
        uint8_t bytes[SHORT_SIGNATURE_BYTES];

        signature_store_short(bytes, signature_words(any.mark, any.stream, any.sequence, 0));
        const struct signature read = signature_read(signature_load_short(bytes));
        assert_true(read.intact);
        assert_int_equal(read.mark, any.mark);
        assert_int_equal(read.stream, any.stream);
        assert_int_equal(read.sequence, any.sequence);
        bytes[i % sizeof(bytes)] ^= (uint8_t)(1 << i % 8);
        assert_false(signature_read(signature_load_short(bytes)).intact);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_where_the_layout_says),
        cmocka_unit_test(reading_gives_back_what_was_written),
        cmocka_unit_test(a_sequence_or_time_beyond_48_bits_disturbs_no_neighbour),
        cmocka_unit_test(the_words_sum_to_ffff),
        cmocka_unit_test(the_template_udp_checksum_stays_valid),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(neither_zeros_nor_ones_are_a_signature),
        cmocka_unit_test(counting_up_is_writing_the_next_number),
        cmocka_unit_test(counting_up_passes_every_sum),
        cmocka_unit_test(a_short_signature_is_the_full_one_without_its_time),
        cmocka_unit_test(a_short_signature_is_read_as_it_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
