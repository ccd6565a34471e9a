/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/worst_latencies.h"

#include "seeded_random.h"
#include "unit_test.h"

#define MANY 5000

static void
record(struct worst_latencies *list, uint64_t latency, uint64_t sequence, uint32_t frames)
{
    if (worst_latencies_wants(list, latency))
        worst_latencies_keep(list, (struct worst_latency){.latency = latency,
                                                          .received_at = 1000000 + sequence,
                                                          .sequence = sequence,
                                                          .frames = frames});
}

/* Distinct latencies in random order. */
static void
shuffled(uint64_t *latencies, uint32_t count, uint64_t seed)
{
    for (uint32_t i = 0; i < count; i++)
        latencies[i] = 10 * (i + 1);
    for (uint32_t i = count - 1; i > 0; i--) {
        const uint32_t other = (uint32_t)random_below(&seed, i + 1);
        const uint64_t swapped = latencies[i];

        latencies[i] = latencies[other];
        latencies[other] = swapped;
    }
}

/* The list holds the longest `count` of MANY latencies 10, 20, …; each with its own number. */
static void
assert_longest(struct worst_latencies *list, uint32_t count, const uint64_t *latencies)
{
    worst_latencies_sort(list);
    assert_int_equal(list->count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(list->worst[i].latency, 10 * (MANY - i));
        assert_int_equal(latencies[list->worst[i].sequence], list->worst[i].latency);
    }
}

static void
the_longest_are_kept(void **state)
{
    static uint64_t latencies[MANY];
    static struct worst_latencies list;

    (void)state;
    for (uint32_t limit = 0; limit <= WORST_LIMIT_MAX; limit += limit < 4 ? 1 : 15) {
        worst_latencies_open(&list, limit, NO_SPIKE);
        shuffled(latencies, MANY, limit + 1);
        for (uint32_t i = 0; i < MANY; i++)
            record(&list, latencies[i], i, 1);
        assert_longest(&list, limit, latencies);
        assert_int_equal(list.spike_frames, 0);
    }
}

/* Of 10, 20, …, 50000: so many of `spike` and more, whatever the limit without them. */
static void
spikes_are_kept_beyond_the_limit_and_counted(void **state)
{
    static const struct {
        uint32_t limit, spikes, kept;
    } cases[] = {
        {16, 0, 16},   {16, 3, 16},  {16, 16, 16},   {16, 17, 17},   {16, 200, 200}, {0, 0, 0},
        {0, 100, 100}, {64, 65, 65}, {16, 256, 256}, {16, 257, 256}, {16, 900, 256},
    };
    static uint64_t latencies[MANY];
    static struct worst_latencies list;

    (void)state;
    for (uint32_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
        const uint64_t spike = 10 * (uint64_t)(MANY - cases[n].spikes) + 1;

        worst_latencies_open(&list, cases[n].limit, spike);
        shuffled(latencies, MANY, n + 1);
        for (uint32_t i = 0; i < MANY; i++)
            record(&list, latencies[i], i, 3);
        assert_int_equal(list.spike_frames, 3 * cases[n].spikes);
        assert_longest(&list, cases[n].kept, latencies);
    }
}

static void
a_latency_of_the_threshold_itself_is_a_spike(void **state)
{
    static struct worst_latencies list;

    (void)state;
    worst_latencies_open(&list, 0, 500);
    record(&list, 499, 1, 1);
    record(&list, 500, 2, 64);
    worst_latencies_sort(&list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.worst[0].sequence, 2);
    assert_int_equal(list.spike_frames, 64);
}

/* As the trial's list is made of its pages'. */
static void
added_lists_keep_the_longest_of_all(void **state)
{
    static uint64_t latencies[MANY];
    static struct worst_latencies total, page;

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const uint64_t spike = seed % 2 ? NO_SPIKE : 10 * (MANY - 99);

        worst_latencies_open(&total, 64, spike);
        shuffled(latencies, MANY, seed);
        for (uint32_t begin = 0; begin < MANY; begin += 250) {
            worst_latencies_open(&page, 64, spike);
            for (uint32_t i = begin; i < begin + 250; i++)
                record(&page, latencies[i], i, 2);
            worst_latencies_add(&total, &page);
        }
        assert_int_equal(total.spike_frames, seed % 2 ? 0 : 200);
        assert_longest(&total, seed % 2 ? 64 : 100, latencies);
    }
}

static void
equal_latencies_are_listed_in_the_order_they_came(void **state)
{
    static struct worst_latencies list;

    (void)state;
    worst_latencies_open(&list, 8, NO_SPIKE);
    for (uint32_t i = 0; i < 20; i++)
        record(&list, 777, i, 1);
    worst_latencies_sort(&list);
    assert_int_equal(list.count, 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(list.worst[i].sequence, i);
}

static void
an_opened_list_has_forgotten_all(void **state)
{
    static struct worst_latencies list;

    (void)state;
    worst_latencies_open(&list, 2, 100);
    record(&list, 1000, 1, 1);
    record(&list, 2000, 2, 1);
    worst_latencies_open(&list, 2, NO_SPIKE);
    record(&list, 5, 3, 1);
    worst_latencies_sort(&list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.worst[0].latency, 5);
    assert_int_equal(list.spike_frames, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_are_kept),
        cmocka_unit_test(spikes_are_kept_beyond_the_limit_and_counted),
        cmocka_unit_test(a_latency_of_the_threshold_itself_is_a_spike),
        cmocka_unit_test(added_lists_keep_the_longest_of_all),
        cmocka_unit_test(equal_latencies_are_listed_in_the_order_they_came),
        cmocka_unit_test(an_opened_list_has_forgotten_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
