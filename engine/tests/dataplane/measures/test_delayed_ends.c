/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/delayed_ends.h"

#include "unit_test.h"

/* The frames noted with ends of so many ns: by a look at all entries, not by the table's own. */
static uint64_t
frames_of(const struct delayed_ends *ends, uint64_t low, uint64_t high)
{
    uint64_t frames = 0;

    for (uint32_t i = 0; i < ends->count; i++) {
        if (ends->entry[i].low == histogram_index(low) >> 3 &&
            ends->entry[i].high == histogram_index(high) >> 3)
            frames += ends->entry[i].frames;
    }
    return frames;
}

static void
frames_with_the_same_ends_are_one_entry(void **state)
{
    static struct delayed_ends ends;

    (void)state;
    delayed_ends_clear(&ends);
    delayed_ends_note(&ends, 0, 4000000, 32);
    delayed_ends_note(&ends, 7, 4000000, 1); /* below 256 ns a bucket is 8 ns wide */
    delayed_ends_note(&ends, 8, 4000000, 5);
    delayed_ends_note(&ends, 4000000, 4000000, 2);
    assert_int_equal(ends.count, 3);
    assert_int_equal(frames_of(&ends, 0, 4000000), 33);
    assert_int_equal(frames_of(&ends, 8, 4000000), 5);
    assert_int_equal(frames_of(&ends, 4000000, 4000000), 2);
    assert_int_equal(ends.left_out, 0);
}

static void
the_longest_latency_has_a_bucket(void **state)
{
    static struct delayed_ends ends;

    (void)state;
    delayed_ends_clear(&ends);
    delayed_ends_note(&ends, 0, UINT64_MAX, 1);
    assert_int_equal(ends.entry[0].high, HISTOGRAM_BUCKETS / DELAYED_ENDS_COARSE - 1);
}

/* 40 low ends by 40 high ends: 1600 entries, of which 1024 fit. */
static void
fill(struct delayed_ends *ends)
{
    for (uint64_t low = 0; low < 40; low++) {
        for (uint64_t high = 0; high < 40; high++)
            delayed_ends_note(ends, low * 8, 1000000 + high * 100000, 3);
    }
}

static void
frames_without_room_are_counted(void **state)
{
    static struct delayed_ends ends;
    uint64_t frames = 0;

    (void)state;
    delayed_ends_clear(&ends);
    fill(&ends);
    for (uint32_t i = 0; i < ends.count; i++)
        frames += ends.entry[i].frames;
    assert_int_equal(ends.count, DELAYED_ENDS_MAX);
    assert_int_equal(frames + ends.left_out, 1600 * 3);
    assert_true(ends.left_out > 0);
}

static void
sums_have_the_frames_of_both(void **state)
{
    static struct delayed_ends page, total;

    (void)state;
    delayed_ends_clear(&page);
    delayed_ends_clear(&total);
    delayed_ends_note(&total, 8, 1000, 2);
    delayed_ends_note(&page, 8, 1000, 3);
    delayed_ends_note(&page, 16, 2000, 1);
    delayed_ends_add(&total, &page);
    assert_int_equal(total.count, 2);
    assert_int_equal(frames_of(&total, 8, 1000), 5);
    fill(&page);
    delayed_ends_add(&total, &page);
    assert_int_equal(total.count, DELAYED_ENDS_MAX);
    assert_true(total.left_out >= page.left_out);
}

static void
a_cleared_table_finds_nothing(void **state)
{
    static struct delayed_ends ends;

    (void)state;
    delayed_ends_clear(&ends);
    fill(&ends);
    delayed_ends_clear(&ends);
    assert_int_equal(ends.count, 0);
    assert_int_equal(ends.left_out, 0);
    delayed_ends_note(&ends, 8, 1000000, 1);
    assert_int_equal(frames_of(&ends, 8, 1000000), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_with_the_same_ends_are_one_entry),
        cmocka_unit_test(the_longest_latency_has_a_bucket),
        cmocka_unit_test(frames_without_room_are_counted),
        cmocka_unit_test(sums_have_the_frames_of_both),
        cmocka_unit_test(a_cleared_table_finds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
