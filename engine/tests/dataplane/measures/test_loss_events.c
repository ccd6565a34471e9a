/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/loss_events.h"

#include <stdbool.h>
#include <string.h>

#include "seeded_random.h"
#include "unit_test.h"

static void
note(struct loss_events *list, uint64_t first, uint64_t frames)
{
    loss_events_note(list, (struct loss_event){.first = first,
                                               .frames = frames,
                                               .after = 10 * first,
                                               .before = 10 * (first + frames),
                                               .seen_at = 10 * (first + frames) + 7});
}

static void
gaps_are_listed_as_they_were_noted(void **state)
{
    static struct loss_events list;

    (void)state;
    loss_events_clear(&list);
    note(&list, 0, 3);
    note(&list, 10, 1);
    note(&list, 12, 500);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.event[1].first, 10);
    assert_int_equal(list.event[1].after, 100);
    assert_int_equal(list.event[1].before, 110);
    assert_int_equal(list.event[1].seen_at, 117);
    loss_events_sort(&list);
    assert_int_equal(list.event[0].first, 12);
    assert_int_equal(list.event[1].first, 0);
    assert_int_equal(list.event[2].first, 10);
    assert_int_equal(list.left_out_events, 0);
}

/* Gaps of 1, 2, …, 1000 frames in random order: the largest 256 stay. */
static void
of_too_many_the_largest_are_kept(void **state)
{
    static struct loss_events list;
    static bool noted[1001];
    uint64_t seed = 1, first = 0;

    (void)state;
    memset(noted, 0, sizeof(noted));
    loss_events_clear(&list);
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t frames = 1 + random_below(&seed, 1000);

        while (noted[frames])
            frames = frames % 1000 + 1;
        noted[frames] = true;
        note(&list, first, frames);
        first += frames + 1;
    }
    for (uint32_t i = 1; i < list.count; i++)
        assert_true(list.event[i - 1].first < list.event[i].first);
    loss_events_sort(&list);
    assert_int_equal(list.count, LOSS_EVENTS_MAX);
    for (uint32_t i = 0; i < list.count; i++)
        assert_int_equal(list.event[i].frames, 1000 - i);
    assert_int_equal(list.left_out_events, 744);
    /* 1 + 2 + … + 744 */
    assert_int_equal(list.left_out_frames, 277140);
}

static void
late_frames_fill_gaps_and_filled_gaps_are_no_losses(void **state)
{
    static struct loss_events list;

    (void)state;
    loss_events_clear(&list);
    note(&list, 5, 2);
    note(&list, 20, 4);
    note(&list, 30, 1);
    loss_events_fill(&list, 21, 1);
    loss_events_fill(&list, 6, 1);
    loss_events_fill(&list, 30, 1);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.event[0].filled, 1);
    assert_int_equal(list.event[1].filled, 1);
    loss_events_fill(&list, 5, 1);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.event[0].first, 20);
    assert_int_equal(list.event[0].filled, 1);
}

/* A run of late numbers may reach over several gaps and what lies between them. */
static void
a_run_fills_what_it_covers(void **state)
{
    static struct loss_events list;

    (void)state;
    loss_events_clear(&list);
    note(&list, 0, 10);
    note(&list, 20, 5);
    note(&list, 30, 10);
    loss_events_fill(&list, 8, 25);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.event[0].first, 0);
    assert_int_equal(list.event[0].filled, 2);
    assert_int_equal(list.event[1].first, 30);
    assert_int_equal(list.event[1].filled, 3);
}

/* They may have been missing in a gap that there was no room for. */
static void
late_frames_of_gaps_left_out_are_taken_off_their_number(void **state)
{
    static struct loss_events list;

    (void)state;
    loss_events_clear(&list);
    for (uint64_t i = 0; i < LOSS_EVENTS_MAX; i++)
        note(&list, 10 * i, 5);
    note(&list, 100000, 3);
    note(&list, 100010, 4);
    assert_int_equal(list.left_out_events, 2);
    assert_int_equal(list.left_out_frames, 7);
    loss_events_fill(&list, 100000, 3);
    loss_events_fill(&list, 100010, 3);
    assert_int_equal(list.count, LOSS_EVENTS_MAX);
    assert_int_equal(list.left_out_events, 1);
    assert_int_equal(list.left_out_frames, 1);
    loss_events_fill(&list, 100013, 1);
    loss_events_fill(&list, 200000, 1);
    assert_int_equal(list.left_out_events, 0);
    assert_int_equal(list.left_out_frames, 0);
}

/* Every second frame swapped with the next: a gap each time, filled at once. */
static void
reordering_without_loss_leaves_nothing(void **state)
{
    static struct loss_events list;

    (void)state;
    loss_events_clear(&list);
    for (uint64_t i = 0; i < 100000; i++) {
        note(&list, 2 * i, 1);
        loss_events_fill(&list, 2 * i, 1);
    }
    assert_int_equal(list.count, 0);
    assert_int_equal(list.left_out_events, 0);
}

static void
added_lists_follow_each_other(void **state)
{
    static struct loss_events total, page;

    (void)state;
    loss_events_clear(&total);
    for (uint64_t n = 0; n < 3; n++) {
        loss_events_clear(&page);
        for (uint64_t i = 0; i < 150; i++)
            note(&page, 10000 * n + 20 * i, 1 + n);
        loss_events_add(&total, &page);
    }
    /* 450 gaps: 150 of three frames and of two each, of which 256 in all fit. */
    assert_int_equal(total.count, LOSS_EVENTS_MAX);
    assert_int_equal(total.left_out_events, 450 - LOSS_EVENTS_MAX);
    assert_int_equal(total.left_out_frames, 150 * 1 + (300 - LOSS_EVENTS_MAX) * 2);
    for (uint32_t i = 1; i < total.count; i++)
        assert_true(total.event[i - 1].first < total.event[i].first);
}

static void
late_numbers_are_noted_in_runs(void **state)
{
    struct late_ranges late = {.begin = 1000};

    (void)state;
    late_ranges_note(&late, 7);
    late_ranges_note(&late, 8);
    late_ranges_note(&late, 9);
    late_ranges_note(&late, 5);
    assert_int_equal(late.count, 2);
    assert_int_equal(late.range[0].first, 7);
    assert_int_equal(late.range[0].frames, 3);
    assert_int_equal(late.range[1].first, 5);
    assert_int_equal(late.range[1].frames, 1);
    /* Of more runs than there is room for the first stay, and the last goes on. */
    for (uint64_t i = 0; i < 1000; i++)
        late_ranges_note(&late, 100 + 2 * i);
    assert_int_equal(late.count, LATE_RANGES_MAX);
    assert_int_equal(late.range[LATE_RANGES_MAX - 1].frames, 1);
}

/* The highest number a signature holds. */
static void
a_gap_up_to_the_highest_number(void **state)
{
    const uint64_t highest = (UINT64_C(1) << 48) - 1;
    static struct loss_events list;

    (void)state;
    loss_events_clear(&list);
    note(&list, 1, highest - 1);
    loss_events_fill(&list, 1, 1);
    loss_events_fill(&list, highest - 1, 1);
    loss_events_fill(&list, highest, 1);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.event[0].filled, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_listed_as_they_were_noted),
        cmocka_unit_test(of_too_many_the_largest_are_kept),
        cmocka_unit_test(late_frames_fill_gaps_and_filled_gaps_are_no_losses),
        cmocka_unit_test(a_run_fills_what_it_covers),
        cmocka_unit_test(late_frames_of_gaps_left_out_are_taken_off_their_number),
        cmocka_unit_test(reordering_without_loss_leaves_nothing),
        cmocka_unit_test(added_lists_follow_each_other),
        cmocka_unit_test(late_numbers_are_noted_in_runs),
        cmocka_unit_test(a_gap_up_to_the_highest_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
