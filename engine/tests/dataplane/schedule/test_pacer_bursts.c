/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts: frames that are due at once, at equal gaps. */
#include "paced_streams.h"

static struct pacer
bursts(uint32_t frames, struct rate rate, uint64_t hz, uint64_t patience)
{
    return pacer_of((struct pacing){.kind = PACING_BURST, .burst_frames = frames}, rate, hz,
                    patience);
}

static void
a_burst_is_due_at_once_and_the_next_one_a_gap_later(void **state)
{
    struct pacer pacer = bursts(32, (struct rate){1000000, 1}, 2600000000, 0);
    const uint64_t gap = 32 * 2600;
    uint64_t due;

    (void)state;
    assert_int_equal(pacer_take(&pacer, START - 1, 64, &due), 0);
    assert_int_equal(pacer_take(&pacer, START, 64, &due), 32);
    assert_int_equal(due, START);
    assert_int_equal(pacer_take(&pacer, START + gap - 1, 64, &due), 0);
    assert_int_equal(pacer_take(&pacer, START + gap, 64, &due), 32);
    assert_int_equal(due, START + gap);
    /* Two at once when both are due, and when so many are requested. */
    assert_int_equal(pacer_take(&pacer, START + 3 * gap, 40, &due), 40);
    assert_int_equal(due, START + 2 * gap);
    assert_int_equal(pacer_take(&pacer, START + 3 * gap, 64, &due), 24);
    assert_int_equal(due, START + 3 * gap);
    assert_int_equal(pacer_take(&pacer, START + 3 * gap, 64, &due), 0);
}

static void
a_long_burst_is_taken_in_parts(void **state)
{
    struct pacer pacer = bursts(1000, (struct rate){1000000, 1}, 2600000000, 0);
    uint64_t due;

    (void)state;
    for (uint32_t part = 0; part < 16; part++)
        assert_int_equal(pacer_take(&pacer, START + 5, 64, &due), part < 15 ? 64 : 1000 - 15 * 64);
    assert_int_equal(due, START);
    assert_int_equal(pacer_take(&pacer, START + 5, 64, &due), 0);
    assert_int_equal(pacer_due(&pacer), START + 2600000);
}

/* Of any size, at any rate: frame n is due when the first frame of its burst is. */
static void
frames_are_due_with_the_first_of_their_burst(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint32_t i = 0; i < RATES * CLOCKS; i++) {
        const struct rate rate = rates[i % RATES];
        const uint64_t hz = clocks[i / RATES];
        const uint32_t frames = (uint32_t)(1 + random_below(&seed, 200));
        const uint64_t gap = frames * hz * rate.seconds / rate.frames;
        struct pacer pacer = bursts(frames, rate, hz, 0);
        uint64_t number = go_to(&pacer, START + random_below(&seed, WEEK * hz)), first;

        for (uint32_t round = 0; round < 1000; round++) {
            const uint64_t now = pacer_due(&pacer) + random_below(&seed, 3 * gap) - gap / 2;
            const uint32_t taken = pacer_take(&pacer, now, 64, &first);
            const uint32_t left = frames - (uint32_t)(number % frames);

            assert_due(first, rate, hz, number / frames * frames);
            assert_true(taken > 0 ? first <= now : first > now);
            if (taken > left)
                assert_true(exact_tick(rate, hz, (number + taken - 1) / frames * frames) <=
                            now + (rate.seconds > 1));
            if (taken > 0 && taken < 64)
                assert_true(pacer_due(&pacer) > now);
            number += taken;
        }
    }
}

static void
a_trial_has_as_many_bursts_as_its_rate_and_length_say(void **state)
{
    struct pacer pacer = bursts(32, (struct rate){64000, 1}, 2595124000, 0);

    (void)state;
    assert_int_equal(go_to(&pacer, START + WEEK * 2595124000), WEEK * 64000);
}

static void
a_burst_beyond_patience_is_skipped_as_a_whole(void **state)
{
    struct pacer pacer = bursts(32, (struct rate){1000000, 1}, 2600000000, 26000);
    const uint64_t gap = 32 * 2600;
    uint64_t due;

    (void)state;
    assert_int_equal(pacer_skip_late(&pacer, START + 26000), 0);
    assert_int_equal(pacer_skip_late(&pacer, START + 26001), 32);
    assert_int_equal(pacer_due(&pacer), START + gap);
    assert_int_equal(pacer_skip_late(&pacer, START + 3 * gap + 26000), 2 * 32);
    assert_int_equal(pacer_take(&pacer, START + 3 * gap + 26000, 64, &due), 32);
    assert_int_equal(due, START + 3 * gap);
}

static void
the_rest_of_a_burst_is_skipped_when_its_time_is_over(void **state)
{
    struct pacer pacer = bursts(32, (struct rate){1000000, 1}, 2600000000, 26000);
    const uint64_t gap = 32 * 2600;
    uint64_t due;

    (void)state;
    assert_int_equal(pacer_take(&pacer, START, 20, &due), 20);
    assert_int_equal(pacer_skip_late(&pacer, START + 26001), 12);
    assert_int_equal(pacer_take(&pacer, START + gap, 20, &due), 20);
    assert_int_equal(pacer_skip_late(&pacer, START + 2 * gap + 26001), 12 + 32);
    assert_int_equal(pacer_take(&pacer, START + 3 * gap, 64, &due), 32);
    assert_int_equal(due, START + 3 * gap);
}

static void
every_frame_is_taken_or_skipped_once(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (uint32_t frames = 1; frames < 150; frames += 7) {
        const struct rate rate = {1000000, 1};
        const uint64_t hz = 2600000000, gap = frames * UINT64_C(2600);
        struct pacer pacer = bursts(frames, rate, hz, 5 * gap);
        uint64_t now = START, taken = 0, skipped = 0, first;

        while (taken + skipped < 200000) {
            skipped += pacer_skip_late(&pacer, now);
            const uint32_t due = pacer_take(&pacer, now, 64, &first);

            if (due > 0)
                assert_uint_in_range(now - first, 0, pacer.patience);
            taken += due;
            assert_int_equal(pacer_due(&pacer), START + (taken + skipped) / frames * gap);
            now += 1 + random_below(&seed, random_below(&seed, 4000) ? 2600 : 20 * gap);
        }
        assert_true(skipped > 0);
        assert_true(taken > skipped);
    }
}

/* 2^26 frames 2^38 ticks apart: a gap of 2^64 ticks between bursts, which would be none at all. */
static void
a_gap_beyond_all_trials_is_no_overflow(void **state)
{
    const uint64_t hz = UINT64_C(1) << 32, end = START + 4 * WEEK * hz;
    const uint32_t frames = 1 << 26;
    struct pacer pacer = bursts(frames, (struct rate){1, 64}, hz, 0);
    uint64_t due;

    (void)state;
    assert_int_equal(pacer_take(&pacer, START, 64, &due), 64);
    assert_int_equal(go_to(&pacer, end), frames - 64);
    assert_int_equal(pacer_take(&pacer, end, 64, &due), 0);
    assert_int_equal(pacer_skip_late(&pacer, end), 0);
    assert_true(due > end);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_is_due_at_once_and_the_next_one_a_gap_later),
        cmocka_unit_test(a_long_burst_is_taken_in_parts),
        cmocka_unit_test(frames_are_due_with_the_first_of_their_burst),
        cmocka_unit_test(a_trial_has_as_many_bursts_as_its_rate_and_length_say),
        cmocka_unit_test(a_burst_beyond_patience_is_skipped_as_a_whole),
        cmocka_unit_test(the_rest_of_a_burst_is_skipped_when_its_time_is_over),
        cmocka_unit_test(every_frame_is_taken_or_skipped_once),
        cmocka_unit_test(a_gap_beyond_all_trials_is_no_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
