/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/schedule/send_window.h"

#include "dataplane/schedule/pacer.h"
#include "unit_test.h"

#define START UINT64_C(123456789012345)
#define HZ 1e9
#define SECOND UINT64_C(1000000000)

static struct send_window
window_of(struct stream_schedule schedule)
{
    struct send_window window;

    send_window_start(&window, &schedule, START, HZ);
    return window;
}

static void
a_stream_that_starts_later_has_one_window_without_an_end(void **state)
{
    struct send_window window = window_of((struct stream_schedule){.start_s = 60});

    (void)state;
    assert_int_equal(window.begin, START + 60 * SECOND);
    /* Beyond the longest trial, a week. */
    assert_true(window.end > window.begin + 604800 * SECOND);
    send_window_next(&window);
    assert_int_equal(window.begin, NO_WINDOW);
}

static void
a_stream_without_repetition_has_one_window(void **state)
{
    struct send_window window =
        window_of((struct stream_schedule){.start_s = 2, .duration_s = 1.5});

    (void)state;
    assert_int_equal(window.begin, START + 2 * SECOND);
    assert_int_equal(window.end, START + 3500000000);
    send_window_next(&window);
    assert_int_equal(window.begin, NO_WINDOW);
    send_window_next(&window);
    assert_int_equal(window.begin, NO_WINDOW);
}

static void
repetitions_follow_after_the_pause(void **state)
{
    struct send_window window = window_of(
        (struct stream_schedule){.start_s = 5, .duration_s = 2, .repeats = true, .pause_s = 3});

    (void)state;
    for (uint64_t k = 0; k < 1000; k++) {
        assert_int_equal(window.begin, START + (5 + 5 * k) * SECOND);
        assert_int_equal(window.end, START + (7 + 5 * k) * SECOND);
        send_window_next(&window);
    }
}

/* A third of a second is no whole number of ticks: a week of them must not drift. */
static void
repetitions_do_not_drift(void **state)
{
    const double third = 1.0 / 3;
    struct send_window window =
        window_of((struct stream_schedule){.duration_s = third, .repeats = true, .pause_s = third});

    (void)state;
    for (uint32_t k = 0; k < 3 * 302400; k++)
        send_window_next(&window);
    assert_int_equal(window.begin, START + 604800 * SECOND);
}

static void
without_a_pause_windows_touch(void **state)
{
    struct send_window window =
        window_of((struct stream_schedule){.duration_s = 1, .repeats = true});
    const uint64_t end = window.end;

    (void)state;
    send_window_next(&window);
    assert_int_equal(window.begin, end);
}

/* As the sending loop does it: what is due before a window's end, then the next window. */
static void
each_window_has_the_frames_of_its_length(void **state)
{
    const struct pacing pacing = {.kind = PACING_CONSTANT, .rate_pps = 1000};
    struct send_window window = window_of(
        (struct stream_schedule){.start_s = 1, .duration_s = 0.5, .repeats = true, .pause_s = 2});
    struct pacer pacer;
    uint64_t due;

    (void)state;
    pacer_start(&pacer, &pacing, window.begin, HZ, 1000);
    for (uint32_t k = 0; k < 10; k++) {
        uint32_t frames = 0;

        while (pacer_due(&pacer) < window.end)
            frames += pacer_take(&pacer, window.end - 1, 64, &due);
        assert_int_equal(frames, 500);
        send_window_next(&window);
        pacer_resume(&pacer, window.begin);
        assert_int_equal(pacer_due(&pacer), window.begin);
    }
}

static void
a_burst_begins_anew_in_each_window(void **state)
{
    const struct pacing pacing = {.kind = PACING_BURST, .rate_pps = 1000, .burst_frames = 32};
    struct pacer pacer;
    uint64_t due;

    (void)state;
    pacer_start(&pacer, &pacing, START, HZ, 1000);
    assert_int_equal(pacer_take(&pacer, START, 20, &due), 20);
    pacer_resume(&pacer, START + SECOND);
    assert_int_equal(pacer_take(&pacer, START + SECOND, 64, &due), 32);
}

static void
random_gaps_go_on_in_the_next_window(void **state)
{
    const struct pacing pacing = {.kind = PACING_POISSON, .rate_pps = 1000, .seed = 7};
    struct pacer pacer;

    (void)state;
    pacer_start(&pacer, &pacing, START, HZ, 1000);
    const uint64_t first = pacer_due(&pacer) - START;
    pacer_resume(&pacer, START + SECOND);
    assert_int_not_equal(pacer_due(&pacer) - START - SECOND, first);
    assert_true(pacer_due(&pacer) >= START + SECOND);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_that_starts_later_has_one_window_without_an_end),
        cmocka_unit_test(a_stream_without_repetition_has_one_window),
        cmocka_unit_test(repetitions_follow_after_the_pause),
        cmocka_unit_test(repetitions_do_not_drift),
        cmocka_unit_test(without_a_pause_windows_touch),
        cmocka_unit_test(each_window_has_the_frames_of_its_length),
        cmocka_unit_test(a_burst_begins_anew_in_each_window),
        cmocka_unit_test(random_gaps_go_on_in_the_next_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
