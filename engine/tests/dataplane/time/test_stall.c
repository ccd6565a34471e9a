/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/time/stall.h"

#include <stdlib.h>

#include "seeded_random.h"
#include "unit_test.h"

static int
longest_first(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? 1 : left > right ? -1 : 0;
}

/* The tally's list must hold the longest of all `lengths`, which this sorts. */
static void
assert_longest(struct stall_tally *tally, uint64_t *lengths, uint32_t count)
{
    const uint32_t kept = count < STALL_LONGEST_MAX ? count : STALL_LONGEST_MAX;

    qsort(lengths, count, sizeof(lengths[0]), longest_first);
    stall_tally_sort(tally);
    assert_int_equal(tally->longest_count, kept);
    for (uint32_t i = 0; i < kept; i++)
        assert_int_equal(tally->longest[i].length, lengths[i]);
}

static void
a_tally_of_nothing_is_all_zero(void **state)
{
    struct stall_tally tally = {0}, other = {0};

    (void)state;
    stall_tally_sort(&tally);
    stall_tally_add(&tally, &other);
    assert_int_equal(tally.stalls, 0);
    assert_int_equal(tally.worst, 0);
    assert_int_equal(tally.longest_count, 0);
}

static void
stalls_are_counted_summed_and_listed(void **state)
{
    struct stall_tally tally = {0};

    (void)state;
    stall_tally_record(&tally, (struct stall){.end = 1000, .length = 30});
    stall_tally_record(&tally, (struct stall){.end = 2000, .length = 500});
    stall_tally_record(&tally, (struct stall){.end = 3000, .length = 70});
    stall_tally_sort(&tally);
    assert_int_equal(tally.stalls, 3);
    assert_int_equal(tally.stalled, 600);
    assert_int_equal(tally.worst, 500);
    assert_int_equal(tally.longest_count, 3);
    assert_int_equal(tally.longest[0].end, 2000);
    assert_int_equal(tally.longest[0].length, 500);
    assert_int_equal(tally.longest[1].end, 3000);
    assert_int_equal(tally.longest[2].end, 1000);
}

static void
a_full_list_keeps_the_longest(void **state)
{
    struct stall_tally tally = {0};
    uint64_t lengths[1000], seed = 1, sum = 0;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        lengths[i] = 1 + random_below(&seed, 1000000);
        sum += lengths[i];
        stall_tally_record(&tally, (struct stall){.end = i, .length = lengths[i]});
    }
    assert_int_equal(tally.stalls, 1000);
    assert_int_equal(tally.stalled, sum);
    assert_longest(&tally, lengths, 1000);
    assert_int_equal(tally.worst, lengths[0]);
}

/* As the trial's total is made of its intervals, most with few stalls and some with many. */
static void
added_tallies_keep_the_longest_of_all(void **state)
{
    static uint64_t lengths[10000];
    struct stall_tally total = {0};
    uint64_t seed = 2, sum = 0, count = 0;

    (void)state;
    for (uint32_t interval = 0; interval < 50; interval++) {
        struct stall_tally tally = {.polls = 100, .idle_polls = 60};

        for (uint64_t n = random_below(&seed, interval % 5 ? 8 : 200); n > 0; n--) {
            lengths[count] = 1 + random_below(&seed, 1000000);
            sum += lengths[count];
            stall_tally_record(&tally, (struct stall){.end = count, .length = lengths[count]});
            count++;
        }
        stall_tally_add(&total, &tally);
    }
    assert_int_equal(total.polls, 5000);
    assert_int_equal(total.idle_polls, 3000);
    assert_int_equal(total.stalls, count);
    assert_int_equal(total.stalled, sum);
    assert_longest(&total, lengths, (uint32_t)count);
    assert_int_equal(total.worst, lengths[0]);
}

/* Lengths beyond 32 bits: 2 s at 3 GHz. */
static void
long_stalls_sort_as_numbers(void **state)
{
    struct stall_tally tally = {0};

    (void)state;
    stall_tally_record(&tally, (struct stall){.end = 1, .length = 5});
    stall_tally_record(&tally, (struct stall){.end = 2, .length = UINT64_C(6000000000)});
    stall_tally_record(&tally, (struct stall){.end = 3, .length = UINT64_C(1) << 32});
    stall_tally_sort(&tally);
    assert_int_equal(tally.longest[0].end, 2);
    assert_int_equal(tally.longest[1].end, 3);
    assert_int_equal(tally.longest[2].end, 1);
}

static void
gaps_are_added_and_cleared_with_the_rest(void **state)
{
    struct stall_tally into, from;

    (void)state;
    stall_tally_clear(&into);
    stall_tally_clear(&from);
    histogram_record(&into.gaps, 3000);
    histogram_record(&from.gaps, 1500);
    stall_tally_record(&from, (struct stall){.end = 9, .length = 4});
    stall_tally_add(&into, &from);
    assert_int_equal(into.gaps.count, 2);
    assert_int_equal(into.gaps.min, 1500);
    assert_int_equal(into.gaps.max, 3000);
    assert_int_equal(into.stalls, 1);
    stall_tally_clear(&into);
    assert_int_equal(into.gaps.count, 0);
    assert_int_equal(into.gaps.min, UINT64_MAX);
    assert_int_equal(into.stalls, 0);
    assert_int_equal(into.longest_count, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_added_and_cleared_with_the_rest),
        cmocka_unit_test(a_tally_of_nothing_is_all_zero),
        cmocka_unit_test(stalls_are_counted_summed_and_listed),
        cmocka_unit_test(a_full_list_keeps_the_longest),
        cmocka_unit_test(added_tallies_keep_the_longest_of_all),
        cmocka_unit_test(long_stalls_sort_as_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
