/* SPDX-License-Identifier: Apache-2.0 */
/* What frame_fields_prepare() refuses, and what it takes that is close to it. */
#include <errno.h>

#include "written_frames.h"

static int
prepare_all(const struct fields *fields, uint32_t length)
{
    struct frame_fields prepared;
    uint8_t template[FRAME_BYTES];

    make_frame(template, FRAME_BYTES);
    return frame_fields_prepare(&prepared, fields, template, length);
}

static int
prepare(struct field one)
{
    return prepare_all(&(struct fields){.count = 1, .field = {one}}, WRITABLE);
}

/* Two fields, in either order. */
static int
prepare_two(struct field one, struct field other)
{
    const int status = prepare_all(&(struct fields){2, {one, other}}, WRITABLE);

    assert_int_equal(prepare_all(&(struct fields){2, {other, one}}, WRITABLE), status);
    return status;
}

static void
a_width_must_be_1_to_8(void **state)
{
    (void)state;
    assert_int_equal(prepare(with_mask(field(0, 0, 1, 1), 1)), -EINVAL);
    assert_int_equal(prepare(field(0, 1, 1, 1)), 0);
    assert_int_equal(prepare(field(0, 8, 1, 1)), 0);
    assert_int_equal(prepare(field(0, 9, 1, 1)), -EINVAL);
}

static void
a_count_must_be_1_to_2_to_the_24(void **state)
{
    struct field random = field(30, 4, 1 << 24, 1);

    (void)state;
    random.kind = FIELD_RANDOM;
    assert_int_equal(prepare(field(30, 4, 0, 1)), -EINVAL);
    assert_int_equal(prepare(field(30, 4, 1 << 24, 1)), 0);
    assert_int_equal(prepare(field(30, 4, (1 << 24) + 1, 1)), -EINVAL);
    assert_int_equal(prepare(random), 0);
    random.count++;
    assert_int_equal(prepare(random), -EINVAL);
}

static void
the_first_number_must_be_below_the_count_unless_random(void **state)
{
    struct field one = field(30, 4, 10, 1);

    (void)state;
    one.first = 9;
    assert_int_equal(prepare(one), 0);
    one.first = 10;
    assert_int_equal(prepare(one), -EINVAL);
    one.kind = FIELD_RANDOM;
    assert_int_equal(prepare(one), 0);
}

static void
a_list_must_have_values(void **state)
{
    const uint64_t values[] = {1, 2};
    struct field one = field(30, 4, 2, 1);

    (void)state;
    one.kind = FIELD_LIST;
    assert_int_equal(prepare(one), -EINVAL);
    one.values = values;
    assert_int_equal(prepare(one), 0);
}

static void
a_mask_must_be_one_run_of_ones_within_the_width(void **state)
{
    const struct field one = field(30, 2, 2, 1), eight = field(26, 8, 2, 1);

    (void)state;
    assert_int_equal(prepare(with_mask(one, 0)), -EINVAL);
    assert_int_equal(prepare(with_mask(one, 1)), 0);
    assert_int_equal(prepare(with_mask(one, 0x8000)), 0);
    assert_int_equal(prepare(with_mask(one, 0x0ff0)), 0);
    assert_int_equal(prepare(with_mask(one, 0x0f0f)), -EINVAL);
    assert_int_equal(prepare(with_mask(one, 0x8001)), -EINVAL);
    assert_int_equal(prepare(with_mask(one, 0x1ffff)), -EINVAL);
    assert_int_equal(prepare(with_mask(eight, UINT64_MAX)), 0);
    assert_int_equal(prepare(with_mask(eight, UINT64_MAX << 63)), 0);
    assert_int_equal(prepare(with_mask(eight, UINT64_MAX - 2)), -EINVAL);
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
a_frame_must_hold_the_eight_bytes_of_a_field(void **state)
{
    const struct fields one = {.count = 1, .field = {field(2, 2, 1, 1)}};

    (void)state;
    assert_int_equal(prepare_all(&one, 8), 0);
    assert_int_equal(prepare_all(&one, 7), -EINVAL);
}

static void
a_checksum_must_end_before_the_signature(void **state)
{
    const struct field one = field(30, 4, 1, 1);

    (void)state;
    assert_int_equal(prepare(with_fixes(one, 1, WRITABLE - 2, 0)), 0);
    assert_int_equal(prepare(with_fixes(one, 1, WRITABLE - 1, 0)), -EINVAL);
    assert_int_equal(prepare(with_fixes(one, 1, WRITABLE, 0)), -EINVAL);
    assert_int_equal(prepare(with_fixes(one, 2, 24, UINT16_MAX - 1)), -EINVAL);
    assert_int_equal(prepare(with_fixes(one, 1, 0, 0)), 0);
}

static void
checksums_must_share_an_alignment(void **state)
{
    const struct field one = field(30, 4, 1, 1);

    (void)state;
    assert_int_equal(prepare(with_fixes(one, 2, 24, 39)), -EINVAL);
    assert_int_equal(prepare(with_fixes(one, 2, 23, 40)), -EINVAL);
    assert_int_equal(prepare(with_fixes(one, 2, 23, 39)), 0);
}

static void
a_checksum_must_not_be_given_twice(void **state)
{
    (void)state;
    assert_int_equal(prepare(with_fixes(field(30, 4, 1, 1), 2, 24, 24)), -EINVAL);
    assert_int_equal(prepare_two(with_fixes(field(26, 4, 1, 1), 1, 24, 0),
                                 with_fixes(field(30, 4, 1, 1), 1, 24, 0)),
                     0);
}

static void
fields_must_not_share_a_bit(void **state)
{
    const struct field vlan = field(14, 2, 2, 1);

    (void)state;
    assert_int_equal(prepare_two(field(30, 4, 2, 1), field(30, 4, 2, 1)), -EINVAL);
    assert_int_equal(prepare_two(field(26, 4, 2, 1), field(29, 4, 2, 1)), -EINVAL);
    assert_int_equal(prepare_two(field(26, 4, 2, 1), field(30, 4, 2, 1)), 0);
    assert_int_equal(prepare_two(ip_field(26, 2, 1), ip_field(29, 2, 1)), -EINVAL);
    assert_int_equal(prepare_two(with_mask(vlan, 0x0fff), with_mask(vlan, 0xe000)), 0);
    assert_int_equal(prepare_two(with_mask(vlan, 0x0fff), with_mask(vlan, 0xf800)), -EINVAL);
    /* The masks meet in a byte that is another one in each of the fields. */
    assert_int_equal(prepare_two(with_mask(vlan, 0x00f0), with_mask(field(15, 2, 2, 1), 0x0f00)),
                     0);
    assert_int_equal(prepare_two(with_mask(vlan, 0x00f0), with_mask(field(15, 2, 2, 1), 0x1f00)),
                     -EINVAL);
}

static void
checksums_must_not_lie_on_fields(void **state)
{
    const struct field covered = ip_field(30, 2, 1);

    (void)state;
    assert_int_equal(prepare(with_fixes(field(22, 4, 2, 1), 1, 24, 0)), -EINVAL);
    assert_int_equal(prepare(with_fixes(field(22, 4, 2, 1), 1, 20, 0)), 0);
    assert_int_equal(prepare(with_mask(with_fixes(field(22, 4, 2, 1), 1, 24, 0), 0xffff0000)), 0);
    assert_int_equal(prepare_two(covered, field(24, 2, 2, 1)), -EINVAL);
    assert_int_equal(prepare_two(covered, field(25, 1, 2, 1)), -EINVAL);
    assert_int_equal(prepare_two(covered, field(26, 1, 2, 1)), 0);
    assert_int_equal(prepare_two(covered, field(23, 1, 2, 1)), 0);
}

static void
checksums_must_not_lie_half_on_each_other(void **state)
{
    const struct field one = field(30, 2, 2, 1), other = field(32, 2, 2, 1);

    (void)state;
    assert_int_equal(prepare_two(with_fixes(one, 1, 24, 0), with_fixes(other, 1, 25, 0)), -EINVAL);
    assert_int_equal(prepare_two(with_fixes(one, 1, 24, 0), with_fixes(other, 1, 27, 0)), 0);
    assert_int_equal(prepare_two(with_fixes(one, 2, 24, 40), with_fixes(other, 1, 39, 0)), -EINVAL);
}

static void
there_are_at_most_eight_fields_and_two_checksums_of_each(void **state)
{
    struct fields fields = {.count = FIELDS_MAX};

    (void)state;
    for (uint16_t i = 0; i < FIELDS_MAX; i++)
        fields.field[i] = field(i, 1, 2, 1);
    assert_int_equal(prepare_all(&fields, WRITABLE), 0);
    fields.count++;
    assert_int_equal(prepare_all(&fields, WRITABLE), -EINVAL);
    assert_int_equal(prepare(with_fixes(field(30, 2, 2, 1), 3, 24, 40)), -EINVAL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_width_must_be_1_to_8),
        cmocka_unit_test(a_count_must_be_1_to_2_to_the_24),
        cmocka_unit_test(the_first_number_must_be_below_the_count_unless_random),
        cmocka_unit_test(a_list_must_have_values),
        cmocka_unit_test(a_mask_must_be_one_run_of_ones_within_the_width),
        cmocka_unit_test(a_field_must_end_before_the_signature),
        cmocka_unit_test(a_frame_must_hold_the_eight_bytes_of_a_field),
        cmocka_unit_test(a_checksum_must_end_before_the_signature),
        cmocka_unit_test(checksums_must_share_an_alignment),
        cmocka_unit_test(a_checksum_must_not_be_given_twice),
        cmocka_unit_test(fields_must_not_share_a_bit),
        cmocka_unit_test(checksums_must_not_lie_on_fields),
        cmocka_unit_test(checksums_must_not_lie_half_on_each_other),
        cmocka_unit_test(there_are_at_most_eight_fields_and_two_checksums_of_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
