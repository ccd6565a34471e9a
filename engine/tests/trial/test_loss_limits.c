/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals of 1000 ticks; streams 0 and 1; one limit of 10 frames on stream 0 unless said. */
#include "trial/loss_limits.h"

#include <string.h>

#include "unit_test.h"

#define INTERVAL UINT64_C(1000)

struct fixture {
    struct trial_request request;
    struct open_request config;
    struct trial trial;
    struct loss_limits limits;
};

static int
begin(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    fixture->request.stream_count = 2;
    fixture->request.loss_limit_count = 1;
    fixture->request.loss_limits[0] = (struct loss_limit){.frames = 10, .streams = 1};
    fixture->config.worker_count = 2;
    fixture->trial.request = &fixture->request;
    fixture->trial.config = &fixture->config;
    *state = fixture;
    return 0;
}

static int
end(void **state)
{
    free(*state);
    return 0;
}

/* The next interval: of each stream 100 frames are sent and all but `missing` come back. */
static bool
after(struct fixture *fixture, int64_t missing, int64_t missing_of_1)
{
    struct trial *trial = &fixture->trial;
    const int64_t lost[] = {missing, missing_of_1};

    trial->interval_begin = trial->interval_end;
    trial->interval_end += INTERVAL;
    for (uint32_t i = 0; i < 2; i++) {
        trial->interval.streams[i].missing = lost[i];
        trial->interval.streams[i].frames.tx.sent = 100;
        trial->interval.streams[i].frames.rx.received = (uint64_t)(100 - lost[i]);
    }
    return loss_limits_exceeded(&fixture->limits, trial);
}

static void
more_than_the_limit_at_two_ends_in_a_row(void **state)
{
    struct fixture *fixture = *state;

    assert_false(after(fixture, 10, 0));
    assert_false(after(fixture, 0, 0));
    assert_false(after(fixture, 1, 0));
    assert_true(after(fixture, 0, 0));
}

static void
late_frames_fill_their_gaps(void **state)
{
    struct fixture *fixture = *state;

    assert_false(after(fixture, 50, 0));
    assert_false(after(fixture, -45, 0));
    assert_false(after(fixture, 6, 0));
    assert_true(after(fixture, 0, 0));
}

static void
only_its_own_streams_count(void **state)
{
    struct fixture *fixture = *state;

    assert_false(after(fixture, 0, 90));
    assert_false(after(fixture, 0, 90));
    /* Both together, with a limit of 15 on both. */
    fixture->request.loss_limit_count = 2;
    fixture->request.loss_limits[1] = (struct loss_limit){.frames = 15, .streams = 3};
    assert_false(after(fixture, 8, 8));
    assert_true(after(fixture, 0, 0));
}

static void
what_found_no_room_counts_where_the_limit_says_so(void **state)
{
    struct fixture *fixture = *state;

    fixture->trial.interval.streams[0].frames.tx.refused = 20;
    assert_false(after(fixture, 0, 0));
    assert_false(after(fixture, 0, 0));
    fixture->request.loss_limits[0].refused = true;
    assert_false(after(fixture, 0, 0));
    assert_true(after(fixture, 0, 0));
}

static void
silence_loses_what_had_an_interval_to_come_back(void **state)
{
    struct fixture *fixture = *state;

    /* Nothing of 100 came back: it may be on its way. Then 100 are lost, then 200. */
    assert_false(after(fixture, 0, 0));
    fixture->trial.interval.streams[0].missing = 0;
    for (int i = 0; i < 3; i++) {
        struct trial *trial = &fixture->trial;

        trial->interval_begin = trial->interval_end;
        trial->interval_end += INTERVAL;
        trial->interval.streams[0].frames.rx.received = 0;
        assert_int_equal(loss_limits_exceeded(&fixture->limits, trial), i == 2);
    }
}

static void
a_silence_that_ends_lost_what_the_gap_shows(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 2; i++) {
        struct trial *trial = &fixture->trial;

        trial->interval_begin = trial->interval_end;
        trial->interval_end += INTERVAL;
        trial->interval.streams[0].frames.tx.sent = 100;
        assert_false(loss_limits_exceeded(&fixture->limits, trial));
    }
    /* All of it was only late but for 10. */
    assert_false(after(fixture, 10, 0));
    assert_false(after(fixture, 0, 0));
    assert_false(after(fixture, 1, 0));
    assert_true(after(fixture, 0, 0));
}

static void
stalls_excuse_twice_what_came_during_them(void **state)
{
    struct fixture *fixture = *state;
    struct worker_counts *worker = &fixture->trial.interval.workers[1];

    /* A tenth of an interval away: 20 of 100 frames, and 10 are allowed. */
    worker->stalls.stalled = INTERVAL / 10;
    assert_false(after(fixture, 30, 0));
    worker->stalls.stalled = 0;
    assert_false(after(fixture, 0, 0));
    assert_false(after(fixture, 1, 0));
    assert_true(after(fixture, 0, 0));
}

static void
a_stall_excuses_into_the_next_interval_and_no_further(void **state)
{
    struct fixture *fixture = *state;
    struct worker_counts *worker = &fixture->trial.interval.workers[0];

    worker->stalls.stalled = INTERVAL / 10;
    assert_false(after(fixture, 0, 0));
    worker->stalls.stalled = 0;
    assert_false(after(fixture, 30, 0));
    assert_false(after(fixture, 0, 0));
    /* Of the next stall's 20 none are left two intervals later. */
    worker->stalls.stalled = INTERVAL / 10;
    assert_false(after(fixture, 0, 0));
    worker->stalls.stalled = 0;
    assert_false(after(fixture, 0, 0));
    assert_false(after(fixture, 20, 0));
    assert_true(after(fixture, 0, 0));
}

static void
without_a_limit_nothing_ends(void **state)
{
    struct fixture *fixture = *state;

    fixture->request.loss_limit_count = 0;
    for (int i = 0; i < 10; i++)
        assert_false(after(fixture, 100, 100));
}

int
main(void)
{
#define EACH(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        EACH(more_than_the_limit_at_two_ends_in_a_row),
        EACH(late_frames_fill_their_gaps),
        EACH(only_its_own_streams_count),
        EACH(what_found_no_room_counts_where_the_limit_says_so),
        EACH(silence_loses_what_had_an_interval_to_come_back),
        EACH(a_silence_that_ends_lost_what_the_gap_shows),
        EACH(stalls_excuse_twice_what_came_during_them),
        EACH(a_stall_excuses_into_the_next_interval_and_no_further),
        EACH(without_a_limit_nothing_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
