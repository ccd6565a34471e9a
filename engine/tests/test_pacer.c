/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/pacer.h"

#include <stdbool.h>

#include "seeded_random.h"
#include "unit_test.h"

#define START UINT64_C(123456789012345)

/* A rate as a fraction, so that what a frame's time ought to be is exact: 10^-2 to 10^8 pps. */
struct rate {
    uint64_t frames;
    uint64_t seconds;
};

static const struct rate rates[] = {
    {1, 100},      {1, 7},        {1, 1},        {3, 1},         {7, 1},        {700, 1},
    {1000, 1},     {2999, 1},     {33333, 1},    {1000000, 3},   {500000, 1},   {700001, 1},
    {1000000, 1},  {1488095, 1},  {2500000, 7},  {9999991, 1},   {14880952, 1}, {29761904, 1},
    {33000000, 1}, {59523809, 1}, {99999989, 1}, {100000000, 1},
};
static const uint64_t clocks[] = {1000000000, 2100000000, 2595124000, 2600000000, 4999999937};

#define RATES (sizeof(rates) / sizeof(rates[0]))
#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

static struct pacer
pacer_of(struct rate rate, uint64_t hz, uint64_t patience)
{
    const double pps = (double)rate.frames / (double)rate.seconds;
    struct pacer pacer;

    pacer_start(&pacer, START, (double)hz / pps, patience);
    return pacer;
}

/* The tick at or after frame n's own time, by whole numbers. */
static uint64_t
exact_tick(struct rate rate, uint64_t hz, uint64_t number)
{
    const unsigned __int128 ticks = (unsigned __int128)number * hz * rate.seconds;

    return START + (uint64_t)((ticks + rate.frames - 1) / rate.frames);
}

/* Frame numbers from the first ones to those of the twelfth hour. */
static uint64_t
some_number(struct rate rate, uint32_t sample)
{
    static const uint64_t seconds[] = {1, 10, 60, 3600, 12 * 3600};

    if (sample < 20)
        return sample;
    return seconds[(sample - 20) % 5] * rate.frames / rate.seconds + sample;
}

#define SAMPLES 70

/*
 * The gap is off by less than 2^-24 ticks, and rounding a frame's time to a tick does
 * not add up: the twelfth hour is as even as the first second.
 */
static void
frames_are_due_in_time_for_hours(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < RATES * CLOCKS; i++) {
        const struct rate rate = rates[i % RATES];
        const uint64_t hz = clocks[i / RATES];
        const struct pacer pacer = pacer_of(rate, hz, 0);

        for (uint32_t sample = 0; sample < SAMPLES; sample++) {
            const uint64_t number = some_number(rate, sample);
            const uint64_t due = pacer_due_at(&pacer, number);
            const uint64_t exact = exact_tick(rate, hz, number);

            assert_in_range(due, exact, exact + 1 + (number >> PACER_FRACTION_BITS));
        }
    }
}

static void
whole_gaps_have_no_error_at_all(void **state)
{
    const struct rate whole[] = {{1, 100}, {1, 1}, {1000, 1}, {500000, 1}, {100000000, 1}};

    (void)state;
    for (uint32_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        const struct pacer pacer = pacer_of(whole[i], 2600000000, 0);

        for (uint32_t sample = 0; sample < SAMPLES; sample++) {
            const uint64_t number = some_number(whole[i], sample);

            assert_int_equal(pacer_due_at(&pacer, number),
                             exact_tick(whole[i], 2600000000, number));
        }
    }
}

/* At 10 GbE's rates, as the header says. */
static void
the_rate_is_right_to_a_billionth(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < RATES && rates[i].frames <= 30000000; i++) {
        const uint64_t number = 3600 * rates[i].frames / rates[i].seconds;
        const struct pacer pacer = pacer_of(rates[i], 2600000000, 0);
        const uint64_t error =
            pacer_due_at(&pacer, number) - exact_tick(rates[i], 2600000000, number);

        assert_true(error <= UINT64_C(3600) * 2600000000 / 1000000000 + 1);
    }
}

/* A trial of d seconds sends the frames due before its end: rate * d of them, not one more. */
static void
a_trial_has_as_many_frames_as_its_rate_and_length_say(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < RATES * CLOCKS; i++) {
        const struct rate rate = rates[i % RATES];
        const uint64_t hz = clocks[i / RATES];
        const struct pacer pacer = pacer_of(rate, hz, 0);

        for (uint64_t d = rate.seconds; d <= 30 * rate.seconds; d += rate.seconds) {
            const uint64_t frames = d / rate.seconds * rate.frames;
            const uint64_t until = START + d * hz;

            if (frames >> PACER_FRACTION_BITS >= hz / rate.frames)
                continue; /* the gap's own error has come to a frame */
            assert_true(pacer_due_at(&pacer, frames - 1) < until);
            assert_true(pacer_due_at(&pacer, frames) >= until);
        }
    }
}

static void
nothing_is_due_before_the_start(void **state)
{
    const struct pacer pacer = pacer_of((struct rate){1000000, 1}, 2600000000, 0);

    (void)state;
    assert_int_equal(pacer_due(&pacer, 0, 64), 0);
    assert_int_equal(pacer_due(&pacer, START - 1, 64), 0);
    assert_int_equal(pacer_due(&pacer, START, 64), 1);
    assert_int_equal(pacer_due(&pacer, START + 2599, 64), 1);
    assert_int_equal(pacer_due(&pacer, START + 2600, 64), 2);
}

/* All that is due and nothing early, but for the last tick, in which a frame may be seen or not. */
static void
due_frames_are_those_whose_time_has_come(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint32_t i = 0; i < RATES * CLOCKS; i++) {
        const struct rate rate = rates[i % RATES];
        const uint64_t hz = clocks[i / RATES];
        struct pacer pacer = pacer_of(rate, hz, 0);

        for (uint32_t round = 0; round < 2000; round++) {
            pacer.next = random_below(&seed, 1000000);
            const uint64_t gap = hz * rate.seconds / rate.frames;
            const uint64_t now =
                pacer_due_at(&pacer, pacer.next) + random_below(&seed, 70 * gap) - gap / 2;
            const uint32_t most = round % 2 ? 64 : 1;
            const uint32_t due = pacer_due(&pacer, now, most);

            assert_true(due <= most);
            if (due > 0)
                assert_true(pacer_due_at(&pacer, pacer.next + due - 1) <= now);
            if (due == 0)
                assert_true(pacer_due_at(&pacer, pacer.next) > now);
            else if (due < most)
                assert_true(pacer_due_at(&pacer, pacer.next + due) >= now);
        }
    }
}

static void
frames_within_patience_are_not_skipped(void **state)
{
    struct pacer pacer = pacer_of((struct rate){1000000, 1}, 2600000000, 26000);

    (void)state;
    assert_int_equal(pacer_skip_late(&pacer, START - 1000), 0);
    assert_int_equal(pacer_skip_late(&pacer, START), 0);
    assert_int_equal(pacer_skip_late(&pacer, START + 26000), 0);
    assert_int_equal(pacer.next, 0);
    /* Frame 0 is a tick too late, frame 1 is not. */
    assert_int_equal(pacer_skip_late(&pacer, START + 26001), 1);
    assert_int_equal(pacer.next, 1);
    /* Frame 10 is exactly as late as patience allows. */
    assert_int_equal(pacer_skip_late(&pacer, START + 10 * 2600 + 26000), 9);
    assert_int_equal(pacer.next, 10);
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

        for (uint32_t round = 0; round < 2000; round++) {
            const uint64_t patience = hz / 1000000 * (10 + random_below(&seed, 100000));
            struct pacer pacer = pacer_of(rate, hz, patience);

            pacer.next = random_below(&seed, 1000000);
            const uint64_t first = pacer.next;
            const uint64_t now =
                pacer_due_at(&pacer, first) + (random_below(&seed, 100 * hz) >> round % 30);
            const uint64_t skipped = pacer_skip_late(&pacer, now);

            assert_int_equal(pacer.next, first + skipped);
            if (skipped > 0)
                assert_true(pacer_due_at(&pacer, pacer.next - 1) + patience < now);
            /* To a tick: the next look would skip it. */
            assert_true(pacer_due_at(&pacer, pacer.next) + patience + 1 >= now);
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
        struct pacer pacer = pacer_of(rates[i], hz, 20 * gap);
        uint64_t now = START, taken = 0, skipped = 0;

        while (taken + skipped < 20000) {
            skipped += pacer_skip_late(&pacer, now);
            const uint32_t due = pacer_due(&pacer, now, 64);

            if (due > 0) {
                assert_in_range(now - pacer_due_at(&pacer, pacer.next), 0, pacer.patience + 1);
                assert_true(pacer_due_at(&pacer, pacer.next + due - 1) <= now);
            }
            pacer.next += due;
            taken += due;
            assert_int_equal(pacer.next, taken + skipped);
            now += 1 + random_below(&seed, random_below(&seed, 400) ? gap : 200 * gap);
        }
        assert_true(skipped > 0);
        assert_true(taken > skipped);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_due_in_time_for_hours),
        cmocka_unit_test(whole_gaps_have_no_error_at_all),
        cmocka_unit_test(the_rate_is_right_to_a_billionth),
        cmocka_unit_test(a_trial_has_as_many_frames_as_its_rate_and_length_say),
        cmocka_unit_test(nothing_is_due_before_the_start),
        cmocka_unit_test(due_frames_are_those_whose_time_has_come),
        cmocka_unit_test(frames_within_patience_are_not_skipped),
        cmocka_unit_test(exactly_the_frames_beyond_patience_are_skipped),
        cmocka_unit_test(every_frame_is_taken_or_skipped_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
