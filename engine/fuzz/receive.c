/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what the receiver does with a burst of frames: any bytes, 0 to 9216 of them, in
 * any segments. A driver of ours hands them up, so the receiver is the engine's own, whole.
 * It must not read outside of a frame, must count every frame once, as verdict.h says, and
 * capture every one as it came.
 */
#include "dataplane/loop/receive.h"

#include <rte_ethdev.h>
#include <string.h>

#include "dataplane/loop/capture_ring.h"
#include "dataplane/time/port_clock.h"
#include "fuzz/invariant.h"
#include "fuzz/received_frame.h"
#include "fuzz/verdict.h"

#define PORT 3

/* The streams' places among those of the trial. */
enum { HOME, PROBE, AWAY, STREAMS };

static struct run run;
static struct worker worker;
static struct rx_queue queue;
static struct rx_stream home, probe;
static struct flight flight;
static struct flow_counts *flows;
static const struct worker sender;
static struct port_clock stamping_clock;
static const _Atomic uint32_t capture_state = CAPTURE_ON;

static struct received_frame frames[RX_BURST];
static uint16_t frame_count;

/* The driver: hands up all frames at once. */
static uint16_t
hand_up(void *rx_queue, struct rte_mbuf **mbufs, uint16_t most)
{
    invariant(rx_queue == &queue && most >= frame_count);
    for (uint16_t i = 0; i < frame_count; i++)
        mbufs[i] = frames[i].mbuf;
    return frame_count;
}

static void
plug_driver_in(void)
{
    static void *queues[] = {&queue}, *callbacks[] = {NULL};
    struct rte_eth_fp_ops *port = &rte_eth_fp_ops[PORT];

    port->rx_pkt_burst = hand_up;
    port->rxq.data = queues;
    port->rxq.clbk = callbacks;
}

static void
clear_stream(struct rx_stream *stream, enum stream_role role)
{
    memset(stream, 0, sizeof(*stream));
    stream->sender = &sender;
    stream->role = role;
    stream->sole_queue = true;
    worst_latencies_open(&stream->pages[0].worst, WORST_LIMIT_MAX, NO_SPIKE);
    histogram_clear(&stream->pages[0].latency);
    histogram_clear(&stream->pages[0].latency_across_stalls);
    histogram_clear(&stream->pages[0].latency_less_stalls);
    delayed_ends_clear(&stream->pages[0].delayed_ends);
    sequence_reset(&stream->sequence);
}

static void
begin_capture(uint32_t snap_bytes)
{
    queue.capture = capture_ring_make(&capture_state, snap_bytes, 1);
    invariant(queue.capture);
}

static void
begin_trial(bool stamping, bool checking, uint32_t flow_count)
{
    memset(&worker, 0, sizeof(worker));
    clear_stream(&home, ROLE_LOAD);
    clear_stream(&probe, ROLE_LATENCY);
    flows = flow_count > 0 ? flow_counts_make(flow_count, flow_count / 2) : NULL;
    home.flows = flows;
    home.checked = probe.checked = checking;
    home.least_cover = COVER_PACKET;
    probe.least_cover = COVER_HEADER;
    memset(&flight, 0, sizeof(flight));
    probe.flight = &flight;
    queue = (struct rx_queue){.port = 0, .dpdk_port = PORT, .queue = 0};
    queue.streams[HOME] = &home;
    queue.streams[PROBE] = &probe;
    if (stamping) {
        queue.clock = &stamping_clock;
        queue.stamp_flag = STAMP_FLAG;
        queue.stamp_offset = STAMP_OFFSET;
    }
    run.mark = TRIAL_MARK;
    run.stall_ticks = run.gap_ticks = UINT64_MAX;
    run.ns_per_tick = UINT64_C(1) << 31;
    run.stream_count = STREAMS;
    memset(run.stream_index, NO_STREAM, sizeof(run.stream_index));
    run.stream_index[HOME_STREAM] = HOME;
    run.stream_index[PROBE_STREAM] = PROBE;
    run.stream_index[AWAY_STREAM] = AWAY;
    worker.run = &run;
}

static void
check_stream(const struct rx_stream *stream, uint64_t expected)
{
    const struct rx_page *page = &stream->pages[0];
    const struct rx_counters *counted = &page->frames;
    uint64_t microseconds = 0;

    /* What its checksums find damaged has not come. */
    invariant(stream->checked ? counted->received <= expected : counted->received == expected);
    invariant(page->latency.count + page->latency_across_stalls.count == counted->received);
    invariant(counted->out_of_order + counted->duplicate <= counted->received);
    invariant(counted->checked + counted->header_checked <=
              (stream->checked ? counted->received : 0));
    invariant(counted->unchecked <= counted->received - counted->checked);
    for (uint32_t i = 0; i < page->losses.count; i++)
        invariant(page->losses.event[i].filled < page->losses.event[i].frames);
    /* Each number below the expected one came, or is missing; some came too late to tell. */
    invariant(stream->sequence.expected <=
              counted->received - counted->duplicate + stream->sequence.missing);
    for (uint32_t us = 0; us <= MICROSECONDS_MAX; us++)
        microseconds += page->microseconds.frames[us];
    invariant(microseconds == (stream->role == ROLE_LATENCY ? page->latency.count : 0));
}

/* The flows of a stream are all of it. */
static void
check_flows(const struct rx_stream *stream)
{
    uint64_t received = 0, timed = 0, duplicates = 0, sum = 0;

    for (uint32_t i = 0; i < stream->flows->count; i++) {
        const struct flow_counter *flow = &stream->flows->flows[i];

        received += flow->received;
        timed += flow->timed;
        sum += flow->latency_sum;
        duplicates += stream->flows->duplicates[i];
        invariant(stream->flows->duplicates[i] <= flow->received && flow->timed <= flow->received);
        invariant(flow->timed == 0 || flow->latency_min <= flow->latency_max);
    }
    invariant(received == stream->pages[0].frames.received);
    invariant(timed == stream->pages[0].latency.count);
    invariant(sum == stream->pages[0].latency.sum);
    invariant(duplicates == stream->pages[0].frames.duplicate);
}

static void
check_counts(void)
{
    uint64_t expected[VERDICTS] = {0}, runts = 0, foreign = 0, corrupt = 0;
    const struct port_page *port = &worker.ports[0][0];

    for (uint16_t i = 0; i < frame_count; i++) {
        const enum verdict verdict = verdict_of(frames[i].bytes, frames[i].length);

        expected[verdict]++;
        runts += verdict == VERDICT_FOREIGN && frames[i].length < RTE_ETHER_HDR_LEN;
    }
    for (uint32_t kind = 0; kind < FOREIGN_KINDS; kind++)
        foreign += port->foreign[kind];
    for (uint32_t i = 0; i < STREAMS; i++)
        corrupt += worker.strays[0][i].corrupt;
    check_stream(&home, expected[VERDICT_HOME]);
    check_stream(&probe, expected[VERDICT_PROBE]);
    invariant(worker.strays[0][AWAY].misdirected == expected[VERDICT_MISDIRECTED]);
    invariant(home.pages[0].frames.received + probe.pages[0].frames.received + corrupt ==
              expected[VERDICT_HOME] + expected[VERDICT_PROBE] + expected[VERDICT_CORRUPT]);
    invariant(port->stale == expected[VERDICT_STALE]);
    invariant(foreign + port->truncated == expected[VERDICT_FOREIGN]);
    invariant(port->foreign[FOREIGN_RUNT] == runts);
}

/* Frames of the burst in its order. Where one had no room, none of its length has room after it. */
static void
check_capture(void)
{
    struct capture_ring *ring = queue.capture;
    const struct captured_frame *captured;
    uint16_t place = 0;
    uint32_t left_out = frame_count;

    capture_ring_look(ring);
    while ((captured = capture_ring_oldest(ring)) != NULL) {
        while (place < frame_count && frames[place].length != captured->length)
            place++;
        invariant(place < frame_count);
        invariant(captured->kept == RTE_MIN(captured->length, ring->snap_bytes));
        invariant(memcmp(captured->bytes, frames[place++].bytes, captured->kept) == 0);
        left_out--;
        capture_ring_drop(ring, captured);
    }
    invariant(ring->left_out == left_out);
    capture_ring_free(ring);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    const uint32_t choice = input_number(&input, 1), snap_bytes = input_number(&input, 1);

    plug_driver_in();
    begin_trial(choice & 1, choice >> 1 & 1, choice >> 2);
    if (snap_bytes > 0)
        begin_capture(snap_bytes < UINT8_MAX ? snap_bytes : RECEIVED_MAX_BYTES);
    for (frame_count = 0; frame_count < RX_BURST && input.left > 0; frame_count++)
        received_frame_make(&frames[frame_count], &input);
    invariant(receive(&worker, &queue) == frame_count);
    check_counts();
    if (queue.capture)
        check_capture();
    if (flows)
        check_flows(&home);
    flow_counts_free(flows);
    for (uint16_t i = 0; i < frame_count; i++)
        received_frame_free(&frames[i]);
    return 0;
}
