/* SPDX-License-Identifier: Apache-2.0 */
/* Constant gaps and none at all; test_pacer_bursts.c and test_pacer_poisson.c have the rest. */
#include <stdbool.h>

#include "paced_streams.h"

static struct pacer
constant(struct rate rate, uint64_t hz, uint64_t patience)
{
    return pacer_of((struct pacing){.kind = PACING_CONSTANT}, rate, hz, patience);
}

/* The first frames of a trial and those at its first second up to its last. */
static void
check_times(struct rate rate, uint64_t hz, bool exactly)
{
    static const uint64_t seconds[] = {0, 1, 10, 60, 3600, 12 * 3600, WEEK - 1, WEEK};

    for (uint32_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        struct pacer pacer = constant(rate, hz, 0);
        uint64_t number = go_to(&pacer, START + seconds[i] * hz);

        for (uint32_t sample = 0; sample < 20; sample++, number++) {
            const uint64_t due = take_one(&pacer);

            if (exactly)
                assert_int_equal(due, exact_tick(rate, hz, number));
            assert_due(due, rate, hz, number);
        }
    }
}

/* Neither the gap's own error nor the rounding of times to ticks adds up to a tick. */
static void
frames_are_due_in_their_tick_for_a_week(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < RATES * CLOCKS; i++)
        check_times(rates[i % RATES], clocks[i / RATES], false);
}

static void
whole_gaps_have_no_error_at_all(void **state)
{
    const struct rate whole[] = {{1, 1},        {1000, 1},      {500000, 1},
                                 {50000000, 1}, {200000000, 1}, {1000000000, 1}};

    (void)state;
    for (uint32_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        check_times(whole[i], 5000000000, true);
}

/* The slowest and the fastest stream of the longest trial on the fastest clock. */
static void
the_extremes_are_in_range(void **state)
{
    struct pacer slow = constant((struct rate){1, 100}, 5000000000, 0);
    struct pacer fast = constant((struct rate){1000000000, 1}, 5000000000, 0);
    const uint64_t end = START + WEEK * 5000000000;

    (void)state;
    assert_int_equal(go_to(&slow, end), WEEK / 100);
    assert_int_equal(take_one(&slow), end);
    assert_int_equal(take_one(&slow), end + 500000000000);
    assert_int_equal(go_to(&fast, end), WEEK * 1000000000);
    assert_int_equal(take_one(&fast), end);
    assert_int_equal(take_one(&fast), end + 5);
}

/*
 * So many frames are due before the end of a trial as fall into it, and not one more. One
 * less where a frame falls into the last tick and is late, at gaps of hardly over a tick.
 */
static void
a_trial_has_as_many_frames_as_its_rate_and_length_say(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < RATES * CLOCKS; i++) {
        const struct rate rate = rates[i % RATES];
        const uint64_t hz = clocks[i / RATES];

        for (uint64_t turns = 1; turns * rate.seconds <= WEEK; turns = turns * 3 + 1) {
            const uint64_t frames = turns * rate.frames, end = START + turns * rate.seconds * hz;
            const uint64_t at_the_edge = exact_tick(rate, hz, frames - 1) == end - 1;
            struct pacer pacer = constant(rate, hz, 0);

            assert_uint_in_range(go_to(&pacer, end), frames - at_the_edge, frames);
        }
    }
}

static void
nothing_is_due_before_the_start(void **state)
{
    struct pacer pacer = constant((struct rate){1000000, 1}, 2600000000, 0);
    uint64_t due;

    (void)state;
    assert_int_equal(pacer_take(&pacer, 0, 64, &due), 0);
    assert_int_equal(pacer_take(&pacer, START - 1, 64, &due), 0);
    assert_int_equal(pacer_take(&pacer, START, 64, &due), 1);
    assert_int_equal(due, START);
    assert_int_equal(pacer_take(&pacer, START + 2599, 64, &due), 0);
    assert_int_equal(pacer_take(&pacer, START + 2 * 2600, 64, &due), 2);
    assert_int_equal(due, START + 2600);
}

/* Any time up to 70 gaps on, or the last tick before a frame, or that frame's own. */
static uint64_t
some_time(struct rate rate, uint64_t hz, uint64_t number, uint64_t *seed)
{
    const uint64_t gap = hz * rate.seconds / rate.frames;
    const uint64_t kind = random_below(seed, 3);

    if (kind == 2)
        return exact_tick(rate, hz, number) + random_below(seed, 70 * gap) - gap / 2;
    return exact_tick(rate, hz, number + random_below(seed, 70)) - kind;
}

/* All that is due, nothing early, and no more than requested. */
static void
taken_frames_are_those_whose_time_has_come(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint32_t i = 0; i < RATES * CLOCKS; i++) {
        const struct rate rate = rates[i % RATES];
        const uint64_t hz = clocks[i / RATES];
        struct pacer pacer = constant(rate, hz, 0);
        uint64_t number = go_to(&pacer, START + random_below(&seed, WEEK * hz)), first;

        for (uint32_t round = 0; round < 2000; round++) {
            const uint64_t before = pacer_due(&pacer);
            const uint64_t now = some_time(rate, hz, number, &seed);
            const uint32_t most = round % 2 ? 64 : 1;
            const uint32_t taken = pacer_take(&pacer, now, most, &first);

            assert_true(taken <= most);
            number += taken;
            assert_due(pacer_due(&pacer), rate, hz, number);
            if (taken < most)
                assert_true(pacer_due(&pacer) > now);
            if (taken > 0) {
                assert_int_equal(first, before);
                assert_true(exact_tick(rate, hz, number - 1) <= now + (rate.seconds > 1));
            } else {
                assert_true(before > now);
            }
        }
    }
}

static void
frames_within_patience_are_not_skipped(void **state)
{
    struct pacer pacer = constant((struct rate){1000000, 1}, 2600000000, 26000);

    (void)state;
    assert_int_equal(pacer_skip_late(&pacer, START - 1000), 0);
    assert_int_equal(pacer_skip_late(&pacer, START), 0);
    assert_int_equal(pacer_skip_late(&pacer, START + 26000), 0);
    assert_int_equal(pacer_due(&pacer), START);
    /* Frame 0 is a tick too late, frame 1 is not. */
    assert_int_equal(pacer_skip_late(&pacer, START + 26001), 1);
    assert_int_equal(pacer_due(&pacer), START + 2600);
    /* Frame 10 is exactly as late as patience allows. */
    assert_int_equal(pacer_skip_late(&pacer, START + 10 * 2600 + 26000), 9);
    assert_int_equal(pacer_due(&pacer), START + 10 * 2600);
}

/* For every rate and any absence: the last one skipped was too late, the next one is not. */
static void
exactly_the_frames_beyond_patience_are_skipped(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (uint32_t i = 0; i < RATES * CLOCKS; i++) {
        const struct rate rate = rates[i % RATES];
        const uint64_t hz = clocks[i / RATES];

        for (uint32_t round = 0; round < 500; round++) {
            const uint64_t patience = hz / 1000000 * (10 + random_below(&seed, 100000));
            struct pacer pacer = constant(rate, hz, patience);
            uint64_t number = go_to(&pacer, START + random_below(&seed, 1000 * hz));
            const uint64_t now = pacer_due(&pacer) + (random_below(&seed, 1000 * hz) >> round % 30);
            const uint64_t skipped = pacer_skip_late(&pacer, now);

            number += skipped;
            assert_true(pacer_due(&pacer) + patience >= now);
            assert_due(pacer_due(&pacer), rate, hz, number);
            if (skipped > 0)
                assert_true(exact_tick(rate, hz, number - 1) + patience < now + (rate.seconds > 1));
        }
    }
}

/* A loop that is away now and then: every frame is taken or skipped, once, and none early. */
static void
every_frame_is_taken_or_skipped_once(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (uint32_t i = 0; i < RATES; i++) {
        const uint64_t hz = 2600000000, gap = hz * rates[i].seconds / rates[i].frames;
        struct pacer pacer = constant(rates[i], hz, 20 * gap);
        uint64_t now = START, taken = 0, skipped = 0, first;

        while (taken + skipped < 20000) {
            skipped += pacer_skip_late(&pacer, now);
            const uint32_t due = pacer_take(&pacer, now, 64, &first);

            if (due > 0)
                assert_uint_in_range(now - first, 0, pacer.patience);
            taken += due;
            assert_due(pacer_due(&pacer), rates[i], hz, taken + skipped);
            now += 1 + random_below(&seed, random_below(&seed, 400) ? gap : 200 * gap);
        }
        assert_true(skipped > 0);
        assert_true(taken > skipped);
    }
}

static void
back_to_back_frames_are_due_whenever_requested(void **state)
{
    const struct pacing pacing = {.kind = PACING_BACK_TO_BACK};
    struct pacer pacer;
    uint64_t due = 0;

    (void)state;
    pacer_start(&pacer, &pacing, START, 2.6e9, 2600);
    assert_int_equal(pacer_take(&pacer, START - 1, 64, &due), 0);
    for (uint64_t now = START; now < START + 1000000000; now += 99999999) {
        assert_int_equal(pacer_skip_late(&pacer, now), 0);
        assert_int_equal(pacer_take(&pacer, now, 64, &due), 64);
        assert_int_equal(due, now);
        assert_int_equal(pacer_take(&pacer, now, 1, &due), 1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_due_in_their_tick_for_a_week),
        cmocka_unit_test(whole_gaps_have_no_error_at_all),
        cmocka_unit_test(the_extremes_are_in_range),
        cmocka_unit_test(a_trial_has_as_many_frames_as_its_rate_and_length_say),
        cmocka_unit_test(nothing_is_due_before_the_start),
        cmocka_unit_test(taken_frames_are_those_whose_time_has_come),
        cmocka_unit_test(frames_within_patience_are_not_skipped),
        cmocka_unit_test(exactly_the_frames_beyond_patience_are_skipped),
        cmocka_unit_test(every_frame_is_taken_or_skipped_once),
        cmocka_unit_test(back_to_back_frames_are_due_whenever_requested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
