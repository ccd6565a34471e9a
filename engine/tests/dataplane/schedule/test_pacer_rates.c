/* SPDX-License-Identifier: Apache-2.0 */
/* Rates that change while frames are sent; on a clock of 1 GHz, so that a tick is 1 ns. */
#include "paced_streams.h"

#define HZ UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static struct pacer
started(enum pacing_kind kind, double rate_pps, uint32_t burst_frames)
{
    const struct pacing pacing = {
        .kind = kind, .rated = true, .rate_pps = rate_pps, .burst_frames = burst_frames, .seed = 3};
    struct pacer pacer;

    pacer_start(&pacer, &pacing, START, (double)HZ, MS);
    return pacer;
}

static uint32_t
take_at(struct pacer *pacer, uint64_t now)
{
    uint64_t due;

    return pacer_take(pacer, now, 1000, &due);
}

static void
a_faster_rate_shortens_the_gap_under_way(void **state)
{
    struct pacer pacer = started(PACING_CONSTANT, 1000, 0);

    (void)state;
    assert_int_equal(take_at(&pacer, START), 1);
    pacer_change_rate(&pacer, 2000, START + MS / 4);
    assert_int_equal(pacer_due(&pacer), START + MS / 2);
    assert_int_equal(take_at(&pacer, START + MS / 2), 1);
    assert_int_equal(pacer_due(&pacer), START + MS);
}

/* The gap of the new rate has passed already: the frame is due at once, and not in the past. */
static void
a_far_faster_rate_has_its_frame_due_at_once(void **state)
{
    struct pacer pacer = started(PACING_CONSTANT, 1000, 0);

    (void)state;
    assert_int_equal(take_at(&pacer, START), 1);
    pacer_change_rate(&pacer, 2000, START + 3 * MS / 4);
    assert_int_equal(pacer_due(&pacer), START + 3 * MS / 4);
    assert_int_equal(take_at(&pacer, START + 3 * MS / 4), 1);
    assert_int_equal(pacer_due(&pacer), START + 5 * MS / 4);
}

static void
a_slower_rate_lengthens_the_gap_under_way(void **state)
{
    struct pacer pacer = started(PACING_CONSTANT, 1000, 0);

    (void)state;
    assert_int_equal(take_at(&pacer, START), 1);
    pacer_change_rate(&pacer, 100, START + 1);
    assert_int_equal(pacer_due(&pacer), START + 10 * MS);
}

/* What is due and was not taken stays due: none is left out, none comes twice. */
static void
frames_that_are_due_stay_due(void **state)
{
    struct pacer pacer = started(PACING_CONSTANT, 1000, 0);

    (void)state;
    assert_int_equal(take_at(&pacer, START), 1);
    pacer_change_rate(&pacer, 2000, START + MS + 1);
    assert_int_equal(pacer_due(&pacer), START + MS);
    assert_int_equal(take_at(&pacer, START + 2 * MS), 3); /* at 1, 1.5 and 2 ms */
}

/* Between two changes the frames are those of the rate, give or take one. */
static void
frames_are_as_many_as_the_rates_say(void **state)
{
    static const double rates_pps[] = {1000, 1e6, 37, 250000, 0, 999999, 5, 0, 1e5};
    struct pacer pacer = started(PACING_CONSTANT, 1000, 0);
    uint64_t now = START, seed = 11;

    (void)state;
    for (uint32_t i = 0; i < 2000; i++) {
        const uint64_t looks = 1 + random_below(&seed, 600);
        const double rate_pps = rates_pps[i % 9];
        const double expected = rate_pps * (double)looks * (double)MS / 2 / (double)HZ;
        uint64_t frames = 0, skipped = 0;

        pacer_change_rate(&pacer, rate_pps, now);
        for (uint64_t look = 0; look < looks; look++) {
            now += MS / 2;
            skipped += pacer_skip_late(&pacer, now);
            frames += take_at(&pacer, now);
        }
        assert_int_equal(skipped, 0);
        assert_true((double)frames >= expected - 1.001 && (double)frames <= expected + 1.001);
    }
}

static void
a_paused_stream_has_nothing_due_and_nothing_late(void **state)
{
    struct pacer pacer = started(PACING_CONSTANT, 1000, 0);

    (void)state;
    assert_int_equal(take_at(&pacer, START), 1);
    pacer_change_rate(&pacer, 0, START + MS / 4);
    assert_int_equal(pacer_skip_late(&pacer, START + WEEK * HZ), 0);
    assert_int_equal(take_at(&pacer, START + WEEK * HZ), 0);
    pacer_change_rate(&pacer, 0, START + WEEK * HZ);
    pacer_change_rate(&pacer, 1000, START + WEEK * HZ);
    assert_int_equal(pacer_due(&pacer), START + WEEK * HZ);
    assert_int_equal(take_at(&pacer, START + WEEK * HZ), 1);
    assert_int_equal(pacer_due(&pacer), START + WEEK * HZ + MS);
}

/* Paused and let go on at once, it sends no frame too many. */
static void
a_short_pause_keeps_the_gap(void **state)
{
    struct pacer pacer = started(PACING_CONSTANT, 1000, 0);

    (void)state;
    assert_int_equal(take_at(&pacer, START), 1);
    pacer_change_rate(&pacer, 0, START + MS / 4);
    pacer_change_rate(&pacer, 1000, START + MS / 2);
    assert_int_equal(pacer_due(&pacer), START + MS);
}

static void
it_may_begin_paused(void **state)
{
    struct pacer pacer = started(PACING_CONSTANT, 0, 0);

    (void)state;
    assert_int_equal(take_at(&pacer, START + HZ), 0);
    pacer_resume(&pacer, START + HZ);
    assert_int_equal(take_at(&pacer, START + HZ), 0);
    pacer_change_rate(&pacer, 1000, START + HZ);
    assert_int_equal(pacer_due(&pacer), START + HZ);
}

static void
bursts_keep_their_frames(void **state)
{
    struct pacer pacer = started(PACING_BURST, 32000, 32); /* one each ms */

    (void)state;
    assert_int_equal(take_at(&pacer, START), 32);
    pacer_change_rate(&pacer, 64000, START + 1);
    assert_int_equal(pacer_due(&pacer), START + MS / 2);
    assert_int_equal(take_at(&pacer, START + MS / 2), 32);
}

static void
the_rest_of_a_burst_is_left_out_by_a_pause(void **state)
{
    struct pacer pacer = started(PACING_BURST, 32000, 32);
    uint64_t due;

    (void)state;
    assert_int_equal(pacer_take(&pacer, START, 20, &due), 20);
    pacer_change_rate(&pacer, 0, START + 1);
    pacer_change_rate(&pacer, 32000, START + 2);
    assert_int_equal(pacer_due(&pacer), START + MS);
    assert_int_equal(take_at(&pacer, START + MS), 32);
}

static void
what_is_left_of_a_random_gap_scales_with_its_mean(void **state)
{
    struct pacer pacer = started(PACING_POISSON, 10, 0);
    const uint64_t left = pacer_due(&pacer) - START - 1000;

    (void)state;
    pacer_change_rate(&pacer, 20, START + 1000);
    assert_uint_in_range(pacer_due(&pacer) - START - 1000, left / 2, left / 2 + 1);
    pacer_change_rate(&pacer, 5, START + 1000);
    assert_uint_in_range(pacer_due(&pacer) - START - 1000, 2 * left - 4, 2 * left + 4);
}

/* 1e5 frames expected at each rate: within five standard deviations. */
static void
random_gaps_have_the_new_rate(void **state)
{
    struct pacer pacer = started(PACING_POISSON, 10, 0);
    uint64_t now = START;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const double rate_pps = i % 2 ? 0 : 1e5 * (i + 1);
        uint64_t frames = 0;

        pacer_change_rate(&pacer, rate_pps, now);
        for (const uint64_t end = now + HZ / (i + 1); now < end; now += 1000)
            frames += take_at(&pacer, now);
        if (rate_pps > 0)
            assert_uint_in_range(frames, 100000 - 1600, 100000 + 1600);
        else
            assert_int_equal(frames, 0);
    }
}

static void
what_has_no_rate_is_left_as_it_is(void **state)
{
    struct pacer pacer = started(PACING_BACK_TO_BACK, 0, 0);

    (void)state;
    pacer_change_rate(&pacer, 0, START);
    assert_int_equal(take_at(&pacer, START), 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_faster_rate_shortens_the_gap_under_way),
        cmocka_unit_test(a_far_faster_rate_has_its_frame_due_at_once),
        cmocka_unit_test(a_slower_rate_lengthens_the_gap_under_way),
        cmocka_unit_test(frames_that_are_due_stay_due),
        cmocka_unit_test(frames_are_as_many_as_the_rates_say),
        cmocka_unit_test(a_paused_stream_has_nothing_due_and_nothing_late),
        cmocka_unit_test(a_short_pause_keeps_the_gap),
        cmocka_unit_test(it_may_begin_paused),
        cmocka_unit_test(bursts_keep_their_frames),
        cmocka_unit_test(the_rest_of_a_burst_is_left_out_by_a_pause),
        cmocka_unit_test(what_is_left_of_a_random_gap_scales_with_its_mean),
        cmocka_unit_test(random_gaps_have_the_new_rate),
        cmocka_unit_test(what_has_no_rate_is_left_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
