/* SPDX-License-Identifier: Apache-2.0 */
/* What fields_prepare() refuses; test_fields.c has what it takes. */
#include "dataplane/fields.h"

#include <errno.h>

#include "internet_checksum.h"
#include "unit_test.h"

#define FRAME_BYTES 60
#define WRITABLE 42 /* without the signature */

static struct field
field(uint16_t offset, uint16_t width, uint32_t flows, uint32_t step)
{
    return (struct field){.offset = offset, .width = width, .flows = flows, .step = step};
}

static struct field
with_fixes(struct field one, uint16_t count, uint16_t first, uint16_t second)
{
    one.fix_count = count;
    one.fixes[0] = first;
    one.fixes[1] = second;
    return one;
}

static struct field
ip_field(uint16_t offset)
{
    return with_fixes(field(offset, 4, 2, 1), 2, IPV4_CHECKSUM_AT, UDP_CHECKSUM_AT);
}

static int
prepare(struct field one)
{
    struct fields fields = {.count = 1, .field = {one}};
    uint8_t template[FRAME_BYTES];

    make_frame(template, FRAME_BYTES);
    return fields_prepare(&fields, template, WRITABLE);
}

static int
prepare_two(struct field one, struct field other)
{
    struct fields fields = {.count = 2, .field = {one, other}};
    uint8_t template[FRAME_BYTES];

    make_frame(template, FRAME_BYTES);
    return fields_prepare(&fields, template, WRITABLE);
}

static void
a_width_must_be_1_to_8(void **state)
{
    (void)state;
    assert_int_equal(prepare(field(0, 0, 1, 1)), -EINVAL);
    assert_int_equal(prepare(field(0, 8, 1, 1)), 0);
    assert_int_equal(prepare(field(0, 9, 1, 1)), -EINVAL);
}

static void
a_field_must_end_before_the_signature(void **state)
{
    (void)state;
    assert_int_equal(prepare(field(WRITABLE - 8, 8, 1, 1)), 0);
    assert_int_equal(prepare(field(WRITABLE - 7, 8, 1, 1)), -EINVAL);
    assert_int_equal(prepare(field(WRITABLE - 1, 1, 1, 1)), 0);
    assert_int_equal(prepare(field(WRITABLE, 1, 1, 1)), -EINVAL);
    assert_int_equal(prepare(field(UINT16_MAX, 8, 1, 1)), -EINVAL);
}

static void
a_checksum_must_end_before_the_signature(void **state)
{
    (void)state;
    assert_int_equal(prepare(with_fixes(field(30, 4, 1, 1), 1, WRITABLE - 2, 0)), 0);
    assert_int_equal(prepare(with_fixes(field(30, 4, 1, 1), 1, WRITABLE - 1, 0)), -EINVAL);
    assert_int_equal(prepare(with_fixes(field(30, 4, 1, 1), 1, WRITABLE, 0)), -EINVAL);
    assert_int_equal(prepare(with_fixes(field(30, 4, 1, 1), 2, 24, UINT16_MAX - 1)), -EINVAL);
}

static void
checksums_must_share_an_alignment(void **state)
{
    (void)state;
    assert_int_equal(prepare(with_fixes(field(30, 4, 1, 1), 2, 24, 39)), -EINVAL);
    assert_int_equal(prepare(with_fixes(field(30, 4, 1, 1), 2, 23, 40)), -EINVAL);
    assert_int_equal(prepare(with_fixes(field(30, 4, 1, 1), 2, 23, 39)), 0);
}

/* The last word of an odd alignment reaches over the last byte the field may touch. */
static void
the_words_of_a_field_must_end_before_the_signature(void **state)
{
    (void)state;
    assert_int_equal(prepare(with_fixes(field(WRITABLE - 1, 1, 1, 1), 1, 24, 0)), 0);
    assert_int_equal(prepare(with_fixes(field(WRITABLE - 1, 1, 1, 1), 1, 23, 0)), -EINVAL);
}

static void
fields_must_not_share_a_word_of_a_checksum(void **state)
{
    (void)state;
    assert_int_equal(prepare_two(ip_field(26), ip_field(30)), 0);
    assert_int_equal(prepare_two(ip_field(30), ip_field(30)), -EINVAL);
    assert_int_equal(prepare_two(ip_field(26), ip_field(29)), -EINVAL);
    assert_int_equal(prepare_two(ip_field(29), ip_field(26)), -EINVAL);
    /* Neighbouring bytes in one word: 30 and 31. */
    assert_int_equal(prepare_two(with_fixes(field(30, 1, 2, 1), 1, 24, 0),
                                 with_fixes(field(31, 1, 2, 1), 1, 24, 0)),
                     -EINVAL);
    assert_int_equal(prepare_two(with_fixes(field(31, 1, 2, 1), 1, 24, 0),
                                 with_fixes(field(32, 1, 2, 1), 1, 24, 0)),
                     0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_width_must_be_1_to_8),
        cmocka_unit_test(a_field_must_end_before_the_signature),
        cmocka_unit_test(a_checksum_must_end_before_the_signature),
        cmocka_unit_test(checksums_must_share_an_alignment),
        cmocka_unit_test(the_words_of_a_field_must_end_before_the_signature),
        cmocka_unit_test(fields_must_not_share_a_word_of_a_checksum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
