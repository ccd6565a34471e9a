/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/frames/buried_signature.h"

#include "seeded_random.h"
#include "unit_test.h"

#define MARK 0x4242

/* A tail with a signature before `padding` bytes of `filling`. */
static void
make_tail(uint8_t *tail, uint32_t length, uint32_t padding, uint8_t filling)
{
    memset(tail, 0xa5, length);
    memset(tail + length - padding, filling, padding);
    signature_store(tail + length - padding - SIGNATURE_BYTES,
                    signature_words(MARK, 3, UINT64_C(0x123456789a), UINT64_C(0xabcdef012345)));
}

static void
it_is_found_before_any_padding(void **state)
{
    uint8_t tail[BURIED_TAIL_BYTES];
    struct signature_words found;

    (void)state;
    for (uint32_t padding = 1; padding <= PADDING_MAX; padding++) {
        make_tail(tail, sizeof(tail), padding, 0);
        assert_true(buried_signature_find(tail, sizeof(tail), MARK, &found));
        const struct signature signature = signature_read(found);
        assert_int_equal(signature.stream, 3);
        assert_int_equal(signature.sequence, UINT64_C(0x123456789a));
        assert_int_equal(signature.time, UINT64_C(0xabcdef012345));
    }
}

static void
another_mark_or_a_flipped_bit_is_not_found(void **state)
{
    uint8_t tail[BURIED_TAIL_BYTES];
    struct signature_words found;

    (void)state;
    make_tail(tail, sizeof(tail), 4, 0);
    assert_false(buried_signature_find(tail, sizeof(tail), MARK + 1, &found));
    for (uint32_t bit = 0; bit < 8 * SIGNATURE_BYTES; bit++) {
        make_tail(tail, sizeof(tail), 4, 0xff);
        tail[sizeof(tail) - 4 - SIGNATURE_BYTES + bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(buried_signature_find(tail, sizeof(tail), MARK, &found));
    }
}

/* Nothing before the tail's first byte is read, which the address sanitizer watches. */
static void
short_tails_are_read_as_far_as_they_go(void **state)
{
    struct signature_words found;

    (void)state;
    for (uint32_t length = 0; length <= SIGNATURE_BYTES + 1; length++) {
        uint8_t *tail = test_malloc(length + 1);

        memset(tail, 0, length);
        if (length == SIGNATURE_BYTES + 1)
            make_tail(tail, length, 1, 7);
        assert_int_equal(buried_signature_find(tail, length, MARK, &found),
                         length == SIGNATURE_BYTES + 1);
        test_free(tail);
    }
}

static void
noise_has_none(void **state)
{
    struct signature_words found;
    uint64_t seed = 5, tail[BURIED_TAIL_BYTES / 8];

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        for (uint32_t word = 0; word < BURIED_TAIL_BYTES / 8; word++)
            tail[word] = random_next(&seed);
        assert_false(buried_signature_find((const uint8_t *)tail, BURIED_TAIL_BYTES, MARK, &found));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_before_any_padding),
        cmocka_unit_test(another_mark_or_a_flipped_bit_is_not_found),
        cmocka_unit_test(short_tails_are_read_as_far_as_they_go),
        cmocka_unit_test(noise_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
