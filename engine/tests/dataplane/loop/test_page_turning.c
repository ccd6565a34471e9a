/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two workers' own loops, as threads, and the main thread that collects what they count:
 * nothing may be lost or counted twice between them, nor, for ThreadSanitizer, be shared
 * without order. Drivers of the test's own hand frames up without end.
 */
#include <pthread.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <string.h>
#include <time.h>

#include "dataplane/frames/signature.h"
#include "dataplane/loop/capture_ring.h"
#include "dataplane/loop/driver_memory.h"
#include "dataplane/loop/worker.h"
#include "trial/collect.h"
#include "unit_test.h"

#define WORKERS 2
#define BURST 4
#define FRAME_BYTES 60
#define INTERVALS 50
#define WORST 8
/* No power of two, so that trains wrap around in it. */
#define FLOWS 7
#define MARK 77
/* Each worker's stream has as its number the worker's. */
#define STREAM(worker) ((uint16_t)(worker))

/* A port that belongs to one worker, whose thread alone touches it. */
struct driver {
    uint64_t handed_up;
    struct rte_mbuf mbufs[BURST];
    uint8_t frames[BURST][FRAME_BYTES];
    void *queue;
    void *callback;
};

static struct driver drivers[WORKERS];
static struct run run;
static struct worker workers[WORKERS];
static struct rx_queue queues[WORKERS];
static struct rx_stream rx_streams[WORKERS];
static struct tx_stream tx_streams[WORKERS];
static struct ports no_ports;
static struct trial trial;
static _Atomic bool quiet;
/* What is captured of the first worker's frames, and how much of it came out again. */
static _Atomic uint32_t capture_state = CAPTURE_ON;
static uint64_t captured;

static uint16_t
hand_up(void *queue, struct rte_mbuf **mbufs, uint16_t most)
{
    struct driver *driver = queue;
    const uint16_t stream = STREAM(driver - drivers);

    if (atomic_load_explicit(&quiet, memory_order_relaxed) || most < BURST)
        return 0;
    for (uint32_t i = 0; i < BURST; i++) {
        struct rte_mbuf *mbuf = &driver->mbufs[i];

        signature_store(driver->frames[i] + FRAME_BYTES - SIGNATURE_BYTES,
                        signature_words(MARK, stream, driver->handed_up++, rte_rdtsc()));
        *mbuf = (struct rte_mbuf){.buf_addr = driver->frames[i],
                                  .data_len = FRAME_BYTES,
                                  .pkt_len = FRAME_BYTES,
                                  .nb_segs = 1,
                                  /* Freeing takes one: there is no mempool to go back to. */
                                  .refcnt = 2};
        mbufs[i] = mbuf;
    }
    return BURST;
}

static void
plug_in(uint32_t number)
{
    struct rte_eth_fp_ops *port = &rte_eth_fp_ops[number];

    drivers[number].queue = &drivers[number];
    port->rx_pkt_burst = hand_up;
    port->rxq.data = &drivers[number].queue;
    port->rxq.clbk = &drivers[number].callback;
}

static void
make_worker(uint32_t number)
{
    struct worker *worker = &workers[number];
    struct rx_stream *stream = &rx_streams[number];

    plug_in(number);
    *worker = (struct worker){.run = &run, .lcore = number + 1, .rx_queue_count = 1};
    worker->rx_queues = &queues[number];
    queues[number].dpdk_port = queues[number].port = (uint16_t)number;
    queues[number].streams[number] = stream;
    /* Its frames are the other worker's, whose stalls count against them. */
    stream->sender = &workers[(number + 1) % WORKERS];
    stream->catch_up = &queues[number].catch_ups[0];
    /* So few that some are forgotten. */
    assert_true(stall_ring_make(&worker->stall_ring, 1, 1));
    stream->flows = flow_counts_make(FLOWS, number);
    assert_non_null(stream->flows);
    sequence_reset(&stream->sequence);
    for (uint32_t page = 0; page < 2; page++) {
        histogram_clear(&stream->pages[page].latency);
        histogram_clear(&stream->pages[page].latency_across_stalls);
        histogram_clear(&stream->pages[page].latency_less_stalls);
        delayed_ends_clear(&stream->pages[page].delayed_ends);
        worst_latencies_open(&stream->pages[page].worst, WORST, NO_SPIKE);
        histogram_clear(&tx_streams[number].pages[page].lateness);
        stall_tally_clear(&worker->stalls[page]);
    }
    run.workers[number] = worker;
    run.tx_streams[number] = &tx_streams[number];
    run.stream_index[STREAM(number)] = (uint8_t)number;
}

/* Takes what is there; the numbers of the frames go up, and each is whole. */
static void
take_captured(struct capture_ring *ring)
{
    static uint64_t next;
    const struct captured_frame *frame;

    capture_ring_look(ring);
    while ((frame = capture_ring_oldest(ring)) != NULL) {
        const uint8_t *at = frame->bytes + FRAME_BYTES - SIGNATURE_BYTES;
        const struct signature signature = signature_read(signature_load(at));

        assert_int_equal(frame->length, FRAME_BYTES);
        assert_int_equal(frame->kept, FRAME_BYTES);
        assert_true(signature.intact && signature.sequence >= next);
        next = signature.sequence + 1;
        captured++;
        capture_ring_drop(ring, frame);
    }
}

static void
make_trial(void)
{
    memset(run.stream_index, NO_STREAM, sizeof(run.stream_index));
    run.mark = MARK;
    run.ns_per_tick = UINT64_C(1) << 31;
    run.stream_count = run.worker_count = WORKERS;
    /* Short enough that both rings of stalls are written and read all the time. */
    run.gap_ticks = run.stall_ticks = 100;
    run.send_until = UINT64_MAX;
    trial.run = &run;
    trial.ports = &no_ports;
    for (uint32_t i = 0; i < WORKERS; i++)
        make_worker(i);
    queues[0].capture = capture_ring_make(&capture_state, FRAME_BYTES, 1000);
    assert_non_null(queues[0].capture);
}

static void *
work(void *worker)
{
    worker_loop(worker);
    return NULL;
}

static uint64_t
latencies(const struct stream_counts *counts)
{
    uint64_t with_ends = counts->delayed_ends.left_out;

    for (uint32_t i = 0; i < counts->delayed_ends.count; i++)
        with_ends += counts->delayed_ends.entry[i].frames;
    assert_int_equal(with_ends, counts->latency_across_stalls.count);
    assert_int_equal(counts->latency_less_stalls.count, counts->latency_across_stalls.count);
    return counts->latency.count + counts->latency_across_stalls.count;
}

/* Each frame is of one flow, and as many of each as their numbers say. */
static void
check_flows(uint32_t number)
{
    const struct flow_counts *counts = trial.flows[number];
    uint64_t received = 0, timed = 0;

    assert_non_null(counts);
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        assert_int_equal(counts->flows[flow].received,
                         flow_counts_sent(counts, drivers[number].handed_up, flow));
        assert_int_equal(counts->duplicates[flow], 0);
        received += counts->flows[flow].received;
        timed += counts->flows[flow].timed;
    }
    assert_int_equal(received, drivers[number].handed_up);
    assert_int_equal(timed, trial.total.streams[number].latency.count);
}

static void
every_frame_is_collected_once(void **state)
{
    const struct timespec moment = {.tv_nsec = 1};
    uint64_t collected[WORKERS] = {0};
    pthread_t threads[WORKERS];

    (void)state;
    make_trial();
    collect_begin(&trial);
    for (uint32_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    atomic_store_explicit(&run.start, rte_rdtsc(), memory_order_release);
    for (uint32_t n = 0; n <= INTERVALS; n++) {
        /* The last interval takes what came before the drivers fell silent. */
        if (n == INTERVALS)
            atomic_store(&quiet, true);
        nanosleep(&moment, NULL);
        take_captured(queues[0].capture);
        collect_interval(&trial);
        for (uint32_t i = 0; i < WORKERS; i++)
            collected[i] += trial.interval.streams[i].frames.rx.received;
    }
    collect_interval(&trial);
    atomic_store(&run.stop, true);
    for (uint32_t i = 0; i < WORKERS; i++) {
        const struct stream_counts *total = &trial.total.streams[i];
        const struct stream_counters *frames = &total->frames;

        pthread_join(threads[i], NULL);
        assert_true(drivers[i].handed_up > 0);
        assert_int_equal(frames->rx.received, drivers[i].handed_up);
        collected[i] += trial.interval.streams[i].frames.rx.received;
        assert_int_equal(collected[i], drivers[i].handed_up);
        assert_int_equal(latencies(total), drivers[i].handed_up);
        assert_int_equal(frames->rx.out_of_order + frames->rx.duplicate, 0);
        assert_int_equal(frames->strays.corrupt, 0);
        assert_true(trial.total.workers[i].stalls.polls >= drivers[i].handed_up / BURST);
    }
    take_captured(queues[0].capture);
    assert_true(captured > 0);
    assert_int_equal(captured + queues[0].capture->left_out, drivers[0].handed_up);
    capture_ring_free(queues[0].capture);
    collect_end(&trial);
    for (uint32_t i = 0; i < WORKERS; i++) {
        check_flows(i);
        flow_counts_free(rx_streams[i].flows);
        stall_ring_free(&workers[i].stall_ring);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_frame_is_collected_once)};

    driver_memory_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
