/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/refusals.h"

#include "unit_test.h"

#define APART 100

static void
refusals_that_follow_closely_are_one_event(void **state)
{
    static struct refusals page, total;

    (void)state;
    refusals_clear(&page);
    refusals_clear(&total);
    refusals_note(&page, 1000, 3, APART);
    refusals_note(&page, 1099, 5, APART);
    refusals_note(&page, 1198, 1, APART);
    refusals_note(&page, 1298, 7, APART); /* as far apart as the limit */
    refusals_add(&total, &page);
    assert_int_equal(total.count, 2);
    assert_int_equal(total.event[0].first, 1000);
    assert_int_equal(total.event[0].last, 1198);
    assert_int_equal(total.event[0].frames, 9);
    assert_int_equal(total.event[1].first, 1298);
    assert_int_equal(total.event[1].last, 1298);
    assert_int_equal(total.event[1].frames, 7);
}

static void
of_too_many_the_largest_are_kept_and_the_rest_counted(void **state)
{
    static struct refusals list, total;

    (void)state;
    refusals_clear(&list);
    refusals_clear(&total);
    /* Of 1, 2, … 200 frames: those of 73 to 200 fit, 72 events of 72 · 73 / 2 frames do not. */
    for (uint64_t i = 1; i <= 200; i++)
        refusals_note(&list, i * 1000, i, APART);
    refusals_add(&total, &list);
    refusals_sort(&total);
    assert_int_equal(total.count, REFUSALS_MAX);
    assert_int_equal(total.event[0].frames, 200);
    assert_int_equal(total.event[REFUSALS_MAX - 1].frames, 73);
    assert_int_equal(total.left_out_events, 72);
    assert_int_equal(total.left_out_frames, 2628);
}

static void
a_cleared_list_has_nothing(void **state)
{
    static struct refusals list, total;

    (void)state;
    refusals_clear(&total);
    refusals_note(&list, 5, 1, APART);
    refusals_clear(&list);
    refusals_add(&total, &list);
    assert_int_equal(total.count, 0);
    assert_int_equal(total.left_out_events, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_that_follow_closely_are_one_event),
        cmocka_unit_test(of_too_many_the_largest_are_kept_and_the_rest_counted),
        cmocka_unit_test(a_cleared_list_has_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
