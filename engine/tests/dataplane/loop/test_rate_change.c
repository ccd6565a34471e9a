/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two workers as threads, each with streams of its own, and the main thread that changes
 * their rates over and over: once it has been told so, each worker keeps to the new ones,
 * and for ThreadSanitizer nothing is shared without order.
 */
#include <pthread.h>
#include <rte_cycles.h>
#include <string.h>

#include "dataplane/loop/rate_change.h"
#include "unit_test.h"

#define WORKERS 2
#define STREAMS 4 /* the even ones are the first worker's, the odd ones the second's */
#define CHANGES 500
#define HZ 1e9

static struct run run;
static struct worker workers[WORKERS];
static struct tx_stream streams[STREAMS];
static struct flight flight;

static void
make_stream(uint32_t number)
{
    const struct pacing pacing = {.kind = PACING_CONSTANT, .rated = true, .rate_pps = 1000};
    struct tx_stream *stream = &streams[number];
    struct worker *worker = &workers[number % WORKERS];

    *stream = (struct tx_stream){.stream = (uint16_t)(100 + number)};
    pacer_start(&stream->pacer, &pacing, run.start, HZ, 0);
    worker->tx_streams[worker->tx_stream_count++] = stream;
    run.stream_index[stream->stream] = (uint8_t)number;
}

static void
make_run(void)
{
    memset(run.stream_index, NO_STREAM, sizeof(run.stream_index));
    run.start = 1;
    run.ticks_per_second = HZ;
    run.worker_count = WORKERS;
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.run = &run};
        run.workers[i] = &workers[i];
    }
    for (uint32_t i = 0; i < STREAMS; i++)
        make_stream(i);
    streams[3].flight = &flight;
}

/* What worker_loop() does of it between its turns. */
static void *
work(void *argument)
{
    struct worker *worker = argument;

    while (!atomic_load_explicit(&run.stop, memory_order_relaxed)) {
        const uint32_t epoch = atomic_load_explicit(&run.rates_epoch, memory_order_acquire);

        if (epoch != atomic_load_explicit(&worker->rates_epoch, memory_order_relaxed))
            rate_change_take(worker, epoch);
    }
    return NULL;
}

/* At 1 GHz a gap is a whole number of ticks for each of the rates. */
static uint64_t
gap(uint32_t stream)
{
    return stream == 3 ? flight.gap : (uint64_t)(streams[stream].pacer.gap >> 64);
}

static void
each_worker_takes_over_the_rates_of_its_own_streams(void **state)
{
    static const double rates_pps[] = {1000, 250000, 0, 10, 1e6};
    static const uint64_t gaps[] = {1000000, 4000, 0, 100000000, 1000};
    pthread_t threads[WORKERS];

    (void)state;
    make_run();
    for (uint32_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (uint32_t n = 0; n < CHANGES; n++) {
        const uint32_t stream = n % STREAMS, rate = n % 5;
        struct rates_request request = {.streams = UINT64_C(1) << stream};
        const uint64_t other = gap((stream + 1) % STREAMS);

        request.rate_pps[stream] = rates_pps[rate];
        rate_change_give(&run, &request);
        if (gaps[rate] > 0)
            assert_int_equal(gap(stream), gaps[rate]);
        else if (stream == 3)
            assert_true(flight.next_at == FLIGHT_NEVER);
        else
            assert_true(streams[stream].pacer.paused);
        assert_int_equal(gap((stream + 1) % STREAMS), other);
    }
    atomic_store(&run.stop, true);
    for (uint32_t i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
}

/* Its first frame is due at its begin, whatever the rate, and no sooner. */
static void
a_stream_that_has_yet_to_begin_begins_when_it_should(void **state)
{
    struct rates_request request = {.streams = 3};
    const uint64_t later = rte_rdtsc() + (UINT64_C(1) << 40);

    (void)state;
    memset(streams, 0, sizeof(streams));
    make_run();
    streams[0].windowed = true;
    streams[0].window.begin = later;
    pacer_resume(&streams[0].pacer, later);
    request.rate_pps[0] = 5;
    request.rate_pps[1] = 5;
    run.rates = request;
    rate_change_take(&workers[0], 1);
    assert_int_equal(pacer_due(&streams[0].pacer), later);
    assert_int_equal(atomic_load(&workers[0].rates_epoch), 1);
    assert_int_equal(atomic_load(&workers[1].rates_epoch), 0);
}

/* Its frame count, schedule and pacing are those of its request, from then on. */
static void
a_stream_begins_anew_for_as_long_as_it_is_to(void **state)
{
    static const struct stream_request sent = {
        .pacing = {.kind = PACING_CONSTANT, .rated = true, .rate_pps = 7},
        .frame_count = 300,
    };
    struct rates_request request = {.streams = 1, .begins = 1};
    const uint64_t before = rte_rdtsc();
    uint64_t begin;

    (void)state;
    memset(streams, 0, sizeof(streams));
    make_run();
    run.patience_ticks = 1000;
    streams[0].request = &sent;
    streams[0].ended_at = 5;
    request.rate_pps[0] = 1e6;
    request.duration_s[0] = 2.5;
    run.rates = request;
    rate_change_take(&workers[0], 1);
    begin = streams[0].begin_at;
    assert_in_range(begin, before, rte_rdtsc());
    assert_int_equal(pacer_due(&streams[0].pacer), begin);
    assert_int_equal(gap(0), 1000);
    assert_int_equal(streams[0].frames_left, 300);
    assert_int_equal(streams[0].until, begin + 2500000000);
    assert_int_equal(streams[0].over_at, streams[0].until + 1000);
    assert_int_equal(atomic_load(&streams[0].ended_at), 0);
    /* Another rate leaves the end where it was, unless it has one of its own. */
    request.begins = 0;
    request.duration_s[0] = 0;
    run.rates = request;
    rate_change_take(&workers[0], 2);
    assert_int_equal(streams[0].until, begin + 2500000000);
    request.duration_s[0] = 1;
    run.rates = request;
    rate_change_take(&workers[0], 3);
    assert_in_range(streams[0].until, begin + 1000000000, rte_rdtsc() + 1000000000);
    assert_int_equal(streams[0].begin_at, begin);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_begins_anew_for_as_long_as_it_is_to),
        cmocka_unit_test(each_worker_takes_over_the_rates_of_its_own_streams),
        cmocka_unit_test(a_stream_that_has_yet_to_begin_begins_when_it_should),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
