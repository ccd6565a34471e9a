/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/worker.h"

#include <rte_pause.h>

#include "dataplane/loop/answering.h"
#include "dataplane/loop/driver_memory.h"
#include "dataplane/loop/rate_change.h"
#include "dataplane/loop/receive.h"
#include "dataplane/loop/stream_course.h"
#include "dataplane/loop/transmit.h"
#include "dataplane/loop/worker_clock.h"

/* More than the longest queue holds; a DUT that never falls silent ends the emptying too. */
#define LONGEST_QUEUE_BURSTS 1024

static bool
stopped(const struct run *run)
{
    return atomic_load_explicit(&run->stop, memory_order_relaxed);
}

/* Waits for the main thread to name the first send's time, so that all start as one. */
static void
wait_for_start(struct worker *worker)
{
    uint64_t start;

    while ((start = atomic_load_explicit(&worker->run->start, memory_order_acquire)) == 0) {
        if (stopped(worker->run))
            return;
        rte_pause();
    }
    for (uint32_t i = 0; i < worker->tx_stream_count; i++)
        stream_course_begin(worker->run, worker->tx_streams[i], start);
    /* A worker that came late to the start was away from it on. */
    atomic_store_explicit(&worker->last_look, RTE_MIN(start, rte_rdtsc()), memory_order_release);
}

static void
close_sequence_pages(struct worker *worker)
{
    for (uint32_t q = 0; q < worker->rx_queue_count; q++) {
        for (uint32_t i = 0; i < worker->run->stream_count; i++) {
            struct rx_stream *stream = worker->rx_queues[q].streams[i];

            if (!stream)
                continue;
            stream->pages[worker->open_page].expected = stream->sequence.expected;
            stream->pages[worker->open_page].missing = stream->sequence.missing;
            stream->pages[worker->open_page ^ 1].late.begin = stream->sequence.expected;
        }
    }
}

/*
 * After the end of sending, takes all that waits in the queues: a worker that was away
 * while the drain ran out must not leave frames uncounted that did come back.
 */
static void
empty_queues(struct worker *worker)
{
    for (uint32_t i = 0; i < worker->rx_queue_count; i++) {
        uint32_t bursts = 0;

        while (bursts < LONGEST_QUEUE_BURSTS && receive(worker, &worker->rx_queues[i]) > 0)
            bursts++;
    }
}

/* Hands the page counted so far to the main thread and turns to the other one. */
static void
turn_page(struct worker *worker, uint32_t epoch)
{
    if (last_look(worker) >= atomic_load_explicit(&worker->run->send_until, memory_order_relaxed))
        empty_queues(worker);
    close_sequence_pages(worker);
    worker->open_page ^= 1;
    atomic_store_explicit(&worker->epoch, epoch, memory_order_release);
}

/*
 * A queue that frames may wait in since a stall is polled again after many came: where as many
 * come in each turn, no first poll would ever show that nothing is left.
 */
static inline uint32_t
poll_queue(struct worker *worker, struct rx_queue *queue)
{
    uint32_t frames = receive(worker, queue);

    if (unlikely(queue->hold.since != 0 && frames >= SHORT_POLL))
        frames += receive(worker, queue);
    return frames;
}

static inline uint32_t
poll_once(struct worker *worker)
{
    uint32_t frames = 0;

    worker->turn++;
    /* With nothing to poll and nothing to send, looking at the clock is all there is to do. */
    if (worker->rx_queue_count + worker->tx_stream_count == 0)
        look_at_clock(worker);
    for (uint32_t i = 0; i < worker->rx_queue_count; i++) {
        look_at_clock(worker);
        frames += poll_queue(worker, &worker->rx_queues[i]);
    }
    for (uint32_t i = 0; i < worker->tx_stream_count; i++)
        frames += transmit(worker, worker->tx_streams[i], look_at_clock(worker));
    return frames;
}

int
worker_loop(void *argument)
{
    struct worker *worker = argument;
    const struct run *run = worker->run;
    const uint32_t number = worker->lcore - 1;

    wait_for_start(worker);
    driver_memory_enter(number);
    while (!stopped(run)) {
        struct stall_tally *tally = &worker->stalls[worker->open_page];

        tally->polls++;
        tally->idle_polls += poll_once(worker) == 0;
        if (unlikely(worker->overdue.before != 0))
            overdue_end_turn(&worker->overdue, &worker->stall_ring, rte_rdtsc(), worker->turn);
        const uint32_t epoch = atomic_load_explicit(&run->epoch, memory_order_acquire);
        if (unlikely(epoch != atomic_load_explicit(&worker->epoch, memory_order_relaxed)))
            turn_page(worker, epoch);
        const uint32_t rates = atomic_load_explicit(&run->rates_epoch, memory_order_acquire);
        if (unlikely(rates != atomic_load_explicit(&worker->rates_epoch, memory_order_relaxed)))
            rate_change_take(worker, rates);
        if (unlikely(atomic_load_explicit(&worker->has_post, memory_order_acquire)))
            answering_send(worker);
        driver_memory_between_turns(number);
    }
    driver_memory_leave(number);
    return 0;
}
