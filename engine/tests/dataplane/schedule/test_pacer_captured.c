/* SPDX-License-Identifier: Apache-2.0 */
/* A capture's frames at its own gaps, scaled to a rate, over and over. */
#include "paced_streams.h"

#define FRAMES 5

/* When frames are due in a round, and how long it is, in any unit: two of them at once. */
struct round {
    uint64_t at[FRAMES];
    uint64_t length;
};

static const struct round rounds[] = {
    {{0, 100, 100, 700, 1000}, 1250},
    {{0, 1, 1, 2, 3}, 1000000007},
    {{0, 999999000000, 999999000000, 999999000001, 999999000002}, 999999000003},
    {{0, 7, 7, 13, 17}, 23},
};

#define ROUNDS (sizeof(rounds) / sizeof(rounds[0]))

/* The pacer keeps the list of shares, so each test has its own. */
static struct pacer
captured(const struct round *round, uint64_t *shares, struct rate rate, uint64_t hz,
         uint64_t patience)
{
    for (uint32_t i = 0; i < FRAMES; i++)
        shares[i] = (uint64_t)(((unsigned __int128)round->at[i] << 64) / round->length);
    return pacer_of(
        (struct pacing){
            .kind = PACING_CAPTURED, .rated = true, .round_frames = FRAMES, .due_shares = shares},
        rate, hz, patience);
}

/* The tick at or after frame n's own time, by whole numbers. */
static uint64_t
captured_tick(const struct round *round, struct rate rate, uint64_t hz, uint64_t number)
{
    const unsigned __int128 units =
        (unsigned __int128)(number / FRAMES) * round->length + round->at[number % FRAMES];
    const unsigned __int128 whole = (unsigned __int128)round->length * rate.frames;
    /* units * FRAMES * hz * seconds / whole, without more than 128 bits. */
    const unsigned __int128 ticks_a_unit = (unsigned __int128)FRAMES * hz * rate.seconds;
    const unsigned __int128 quotient = ticks_a_unit / whole, rest = ticks_a_unit % whole;

    return START + (uint64_t)(units * quotient + (units * rest + whole - 1) / whole);
}

static void
frames_are_due_at_their_gaps_and_rounds_follow_each_other(void **state)
{
    uint64_t shares[FRAMES], due;
    /* 5 frames at 1 kpps: 5 ms a round, 20000 ticks for each of its 1250 units. */
    struct pacer pacer = captured(&rounds[0], shares, (struct rate){1000, 1}, 5000000000, 0);

    (void)state;
    assert_int_equal(pacer_take(&pacer, START - 1, 64, &due), 0);
    assert_int_equal(take_one(&pacer), START);
    assert_int_equal(pacer_take(&pacer, START + 1999999, 64, &due), 0);
    assert_int_equal(pacer_take(&pacer, START + 2000000, 64, &due), 2);
    assert_int_equal(due, START + 2000000);
    assert_int_equal(take_one(&pacer), START + 14000000);
    assert_int_equal(take_one(&pacer), START + 20000000);
    /* All of a round and the first of the next one, as many as are requested at a time. */
    assert_int_equal(pacer_take(&pacer, START + 50000000, 4, &due), 4);
    assert_int_equal(due, START + 25000000);
    assert_int_equal(pacer_take(&pacer, START + 50000000, 64, &due), 2);
    assert_int_equal(due, START + 45000000);
}

/* At any rate and clock, in a tick of its own time or the next to it, hours and days later. */
static void
rounds_do_not_drift_in_a_week(void **state)
{
    static const uint64_t seconds[] = {0, 1, 60, 3600, 12 * 3600, WEEK};

    (void)state;
    for (uint32_t i = 0; i < RATES * CLOCKS; i++) {
        const struct rate rate = rates[i % RATES];
        const uint64_t hz = clocks[i / RATES];
        const struct round *round = &rounds[i % 2 ? 0 : 3];

        for (uint32_t s = 0; s < sizeof(seconds) / sizeof(seconds[0]); s++) {
            uint64_t shares[FRAMES];
            struct pacer pacer = captured(round, shares, rate, hz, 0);
            uint64_t number = go_to(&pacer, START + seconds[s] * hz);

            for (uint32_t sample = 0; sample < 4 * FRAMES; sample++, number++) {
                const uint64_t exact = captured_tick(round, rate, hz, number);

                assert_uint_in_range(take_one(&pacer), exact - 1, exact + 1);
            }
        }
    }
}

static void
whole_ticks_have_no_error_at_all(void **state)
{
    static const struct rate whole = {1000000, 1};
    uint64_t shares[FRAMES];
    /* 5 us a round: 23 units of 1000 ticks. */
    struct pacer pacer = captured(&rounds[3], shares, whole, 4600000000, 0);
    const uint64_t number = go_to(&pacer, START + WEEK * 4600000000);

    (void)state;
    assert_int_equal(number, WEEK * 1000000);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(take_one(&pacer),
                         captured_tick(&rounds[3], whole, 4600000000, number + i));
}

/* However long a pause: frames at one time stay at one time, and no two change places. */
static void
frames_at_one_time_stay_together(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ROUNDS * RATES; i++) {
        uint64_t shares[FRAMES], first, second;
        struct pacer pacer =
            captured(&rounds[i % ROUNDS], shares, rates[i / ROUNDS], 2595124000, 0);

        for (uint32_t round = 0; round < 200; round++) {
            const uint64_t begin = take_one(&pacer);

            first = take_one(&pacer);
            second = take_one(&pacer);
            assert_true(begin <= first);
            assert_int_equal(first, second);
            assert_true(second <= take_one(&pacer));
            (void)take_one(&pacer);
        }
    }
}

/* The slowest and longest round on the fastest clock: 5 days of 2^51 ticks. */
static void
the_extremes_are_in_range(void **state)
{
    static uint64_t shares[4096];
    const struct pacing pacing = {
        .kind = PACING_CAPTURED, .rate_pps = 0.01, .round_frames = 4096, .due_shares = shares};
    struct pacer pacer;

    (void)state;
    for (uint64_t i = 0; i < 4096; i++)
        shares[i] = i << 52;
    pacer_start(&pacer, &pacing, START, 5e9, 0);
    for (uint64_t number = 0; number < 3 * 4096; number++)
        assert_uint_in_range(take_one(&pacer), START + number * 500000000000 - 1,
                             START + number * 500000000000 + 1);
}

/* A loop that is away now and then: frame n, taken or skipped, is always the n-th of its round. */
static void
every_frame_is_taken_or_skipped_once(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (uint32_t i = 0; i < ROUNDS * RATES; i++) {
        const struct round *round = &rounds[i % ROUNDS];
        const struct rate rate = rates[i / ROUNDS];
        const uint64_t hz = 2600000000, gap = hz * rate.seconds / rate.frames;
        uint64_t shares[FRAMES], now = START, taken = 0, skipped = 0, first;
        struct pacer pacer = captured(round, shares, rate, hz, 3 * FRAMES * gap);

        while (taken + skipped < 5000) {
            skipped += pacer_skip_late(&pacer, now);
            assert_int_equal(pacer.frame, (taken + skipped) % FRAMES);
            const uint32_t due = pacer_take(&pacer, now, 64, &first);

            if (due > 0)
                assert_uint_in_range(now - first, 0, pacer.patience);
            if (due < 64)
                assert_true(pacer_due(&pacer) > now);
            taken += due;
            const uint64_t exact = captured_tick(round, rate, hz, taken + skipped);
            assert_uint_in_range(pacer_due(&pacer), exact - 1, exact + 1);
            now += 1 + random_below(&seed, random_below(&seed, 40) ? gap : 100 * FRAMES * gap);
        }
        assert_true(skipped > 0);
        assert_true(taken > 0);
    }
}

static void
a_schedule_s_repetition_begins_a_round(void **state)
{
    uint64_t shares[FRAMES];
    struct pacer pacer = captured(&rounds[0], shares, (struct rate){1000, 1}, 5000000000, 0);

    (void)state;
    (void)take_one(&pacer);
    (void)take_one(&pacer);
    pacer_resume(&pacer, START + 777);
    assert_int_equal(pacer.frame, 0);
    assert_int_equal(take_one(&pacer), START + 777);
    assert_int_equal(take_one(&pacer), START + 777 + 2000000);
}

/* Twice the rate: what is left of the round takes half of the time from the frame before on. */
static void
a_new_rate_scales_what_is_left_of_the_round(void **state)
{
    uint64_t shares[FRAMES], due;
    struct pacer pacer = captured(&rounds[0], shares, (struct rate){1000, 1}, 5000000000, 0);

    (void)state;
    assert_int_equal(pacer_take(&pacer, START + 2000000, 64, &due), 3);
    pacer_change_rate(&pacer, 2000, START + 3000000);
    assert_int_equal(take_one(&pacer), START + 2000000 + 6000000);
    assert_int_equal(take_one(&pacer), START + 2000000 + 9000000);
    assert_int_equal(take_one(&pacer), START + 2000000 + 11500000);
    assert_int_equal(take_one(&pacer), START + 2000000 + 12500000);
}

/* What is due already stays due, and frames at one time with it. */
static void
a_new_rate_leaves_what_is_due_as_it_is(void **state)
{
    uint64_t shares[FRAMES], due;
    struct pacer pacer = captured(&rounds[0], shares, (struct rate){1000, 1}, 5000000000, 0);

    (void)state;
    assert_int_equal(take_one(&pacer), START);
    assert_int_equal(take_one(&pacer), START + 2000000);
    pacer_change_rate(&pacer, 500, START + 2000001);
    assert_int_equal(pacer_take(&pacer, START + 2000001, 64, &due), 1);
    assert_int_equal(due, START + 2000000);
    assert_int_equal(pacer_due(&pacer), START + 2000000 + 24000000);
}

/* The round goes on with the frame that was to follow; a short pause keeps its gap. */
static void
a_pause_leaves_no_frame_out(void **state)
{
    uint64_t shares[FRAMES], due;
    struct pacer pacer = captured(&rounds[0], shares, (struct rate){1000, 1}, 5000000000, 0);

    (void)state;
    assert_int_equal(pacer_take(&pacer, START + 2000000, 64, &due), 3);
    pacer_change_rate(&pacer, 0, START + 3000000);
    assert_int_equal(pacer_take(&pacer, START + WEEK * 5000000000, 64, &due), 0);
    assert_int_equal(pacer_skip_late(&pacer, START + WEEK * 5000000000), 0);
    pacer_change_rate(&pacer, 1000, START + 4000000);
    assert_int_equal(take_one(&pacer), START + 14000000);
    pacer_change_rate(&pacer, 0, START + 14000000);
    pacer_change_rate(&pacer, 1000, START + 999000000);
    assert_int_equal(pacer.frame, 4);
    assert_int_equal(take_one(&pacer), START + 999000000);
    /* Counted from the middle of a round, a tick more or less. */
    assert_uint_in_range(take_one(&pacer), START + 1004000000 - 1, START + 1004000000 + 1);
}

static void
it_may_begin_paused(void **state)
{
    uint64_t shares[FRAMES], due;
    struct pacer pacer = captured(&rounds[0], shares, (struct rate){0, 1}, 5000000000, 0);

    (void)state;
    assert_int_equal(pacer_take(&pacer, START + 1000000000, 64, &due), 0);
    pacer_change_rate(&pacer, 1000, START + 1000000000);
    assert_int_equal(take_one(&pacer), START + 1000000000);
    assert_int_equal(take_one(&pacer), START + 1000000000 + 2000000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_due_at_their_gaps_and_rounds_follow_each_other),
        cmocka_unit_test(rounds_do_not_drift_in_a_week),
        cmocka_unit_test(whole_ticks_have_no_error_at_all),
        cmocka_unit_test(frames_at_one_time_stay_together),
        cmocka_unit_test(the_extremes_are_in_range),
        cmocka_unit_test(every_frame_is_taken_or_skipped_once),
        cmocka_unit_test(a_schedule_s_repetition_begins_a_round),
        cmocka_unit_test(a_new_rate_scales_what_is_left_of_the_round),
        cmocka_unit_test(a_new_rate_leaves_what_is_due_as_it_is),
        cmocka_unit_test(a_pause_leaves_no_frame_out),
        cmocka_unit_test(it_may_begin_paused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
