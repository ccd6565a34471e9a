/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/collect.h"

#include <rte_mempool.h>
#include <string.h>
#include <time.h>

#include "dataplane/loop/stamping.h"

/* Of a wait for the workers: one turn of a loop takes microseconds. */
#define FIRST_PAUSE_NS 20000L
#define LONGEST_PAUSE_NS 1000000L

/* Only what is in use: the main thread's work is taken from another's CPU. */
static void
clear(struct counts *counts, const struct run *run)
{
    memset(counts->streams, 0, run->stream_count * sizeof(counts->streams[0]));
    memset(counts->ports, 0, sizeof(counts->ports));
    for (uint32_t i = 0; i < run->stream_count; i++) {
        histogram_clear(&counts->streams[i].latency);
        histogram_clear(&counts->streams[i].latency_across_stalls);
        histogram_clear(&counts->streams[i].latency_less_stalls);
        delayed_ends_clear(&counts->streams[i].delayed_ends);
        histogram_clear(&counts->streams[i].lateness);
        worst_latencies_open(&counts->streams[i].worst, run->worst_limit, run->spike_ticks);
    }
    for (uint32_t i = 0; i < run->worker_count; i++) {
        stall_tally_clear(&counts->workers[i].stalls);
        counts->workers[i].cycles = (struct cycle_meter){0};
    }
}

void
collect_begin(struct trial *trial)
{
    clear(&trial->total, trial->run);
    for (uint32_t i = 0; i < trial->ports->count; i++)
        port_stats(&trial->ports->port[i], &trial->before[i]);
}

/*
 * A worker whose CPU was taken away turns its page when it gets it back; until then
 * nothing of it can be read, so there is no time limit here. On a small machine it is the
 * worker's own CPU on which this thread wakes: each pause is twice as long as the last.
 */
static void
turn_pages(struct run *run)
{
    struct timespec pause = {.tv_nsec = FIRST_PAUSE_NS};
    const uint32_t epoch = atomic_load(&run->epoch) + 1;

    atomic_store_explicit(&run->epoch, epoch, memory_order_release);
    for (uint32_t i = 0; i < run->worker_count; i++) {
        while (atomic_load_explicit(&run->workers[i]->epoch, memory_order_acquire) != epoch) {
            nanosleep(&pause, NULL);
            pause.tv_nsec = RTE_MIN(2 * pause.tv_nsec, LONGEST_PAUSE_NS);
        }
    }
}

static void
take_histogram(struct histogram *into, struct histogram *page)
{
    if (page->count == 0)
        return;
    histogram_add(into, page);
    histogram_clear(page);
}

static void
take_delayed(struct delayed_ends *into, struct delayed_ends *page)
{
    if (page->count == 0)
        return;
    delayed_ends_add(into, page);
    delayed_ends_clear(page);
}

static void
take_tx(struct stream_counts *counts, struct tx_page *page)
{
    counts->frames.tx = page->frames;
    take_histogram(&counts->lateness, &page->lateness);
    refusals_add(&counts->refusals, &page->refusals);
    refusals_clear(&page->refusals);
    memset(page, 0, offsetof(struct tx_page, lateness));
}

static void
take_rx(struct stream_counts *counts, const struct rx_stream *stream, struct rx_page *page)
{
    rx_counters_add(&counts->frames.rx, &page->frames);
    take_histogram(&counts->latency, &page->latency);
    take_histogram(&counts->latency_across_stalls, &page->latency_across_stalls);
    take_histogram(&counts->latency_less_stalls, &page->latency_less_stalls);
    take_delayed(&counts->delayed_ends, &page->delayed_ends);
    memset(page, 0, offsetof(struct rx_page, latency));
    worst_latencies_add(&counts->worst, &page->worst);
    worst_latencies_open(&page->worst, page->worst.limit, page->worst.spike);
    loss_events_add(&counts->losses, &page->losses);
    loss_events_clear(&page->losses);
    if (stream->role != ROLE_LATENCY)
        return;
    microseconds_add(&counts->microseconds, &page->microseconds);
    memset(&page->microseconds, 0, sizeof(page->microseconds));
}

/* Latencies of a stream that its ports stamp are its sender's to count. */
static void
take_stamps(struct stream_counts *counts, struct stamping_page *page)
{
    for (uint32_t i = 0; i < PROBE_OUTCOMES; i++)
        counts->stamp_outcomes[i] += page->outcomes[i];
    counts->stamp_error = RTE_MAX(counts->stamp_error, page->error);
    take_histogram(&counts->latency, &page->latency);
    worst_latencies_add(&counts->worst, &page->worst);
    worst_latencies_open(&page->worst, page->worst.limit, page->worst.spike);
    microseconds_add(&counts->microseconds, &page->microseconds);
    memset(page, 0, offsetof(struct stamping_page, latency));
    memset(&page->microseconds, 0, sizeof(page->microseconds));
}

/* Late frames of this page whose gaps were seen on earlier ones. */
static void
take_late(struct loss_events *earlier, struct late_ranges *late)
{
    for (uint32_t i = 0; i < late->count; i++)
        loss_events_fill(earlier, late->range[i].first, late->range[i].frames);
    late->count = 0;
}

/* How far a stream has come, on all the queues that it comes in on together. */
struct progress {
    uint64_t passed;   /* numbers up to the highest seen */
    uint64_t distinct; /* of them, seen */
};

/* A queue has not seen `missing` of the numbers below `expected`: others may have. */
static void
add_progress(struct progress *progress, const struct rx_page *page)
{
    progress->passed = RTE_MAX(progress->passed, page->expected);
    progress->distinct += page->expected - page->missing;
}

static void
take_stream(struct trial *trial, uint32_t index, uint32_t page)
{
    struct stream_counts *counts = &trial->interval.streams[index];
    struct run *run = trial->run;
    struct progress progress = {0};

    take_tx(counts, &run->tx_streams[index]->pages[page]);
    if (run->tx_streams[index]->stamping)
        take_stamps(counts, &run->tx_streams[index]->stamping->pages[page]);
    for (uint32_t w = 0; w < run->worker_count; w++) {
        for (uint32_t q = 0; q < run->workers[w]->rx_queue_count; q++) {
            struct rx_stream *stream = run->workers[w]->rx_queues[q].streams[index];

            if (!stream)
                continue;
            add_progress(&progress, &stream->pages[page]);
            take_rx(counts, stream, &stream->pages[page]);
            take_late(&trial->total.streams[index].losses, &stream->pages[page].late);
        }
    }
    const int64_t missing = (int64_t)(progress.passed - progress.distinct);
    counts->missing = missing - trial->missing_before[index];
    trial->missing_before[index] = missing;
}

static void
take_worker(struct counts *counts, struct worker *worker, uint32_t number, uint32_t page)
{
    struct worker_counts *into = &counts->workers[number];

    for (uint32_t i = 0; i < worker->run->stream_count; i++)
        stray_counters_add(&counts->streams[i].frames.strays, &worker->strays[page][i]);
    for (uint32_t port = 0; port < PORTS_MAX; port++) {
        for (uint32_t kind = 0; kind < FOREIGN_KINDS; kind++)
            counts->ports[port].foreign[kind] += worker->ports[page][port].foreign[kind];
        for (uint32_t kind = 0; kind < HOST_COUNTERS; kind++)
            counts->ports[port].host[kind] += worker->ports[page][port].host[kind];
        counts->ports[port].stale += worker->ports[page][port].stale;
        counts->ports[port].truncated += worker->ports[page][port].truncated;
    }
    stall_tally_add(&into->stalls, &worker->stalls[page]);
    cycle_meter_add(&into->cycles, &worker->cycles[page]);
    memset(worker->strays[page], 0, sizeof(worker->strays[page]));
    memset(worker->ports[page], 0, sizeof(worker->ports[page]));
    stall_tally_clear(&worker->stalls[page]);
    worker->cycles[page] = (struct cycle_meter){0};
}

static uint32_t
buffers_in_use(const struct port *port)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < port->tx_queues; i++)
        count += rte_mempool_in_use_count(port->tx_pool[i]);
    for (uint32_t i = 0; i < port->rx_queues; i++)
        count += rte_mempool_in_use_count(port->rx_pool[i]);
    return count;
}

static void
take_port(struct port_counts *counts, const struct port *port, struct rte_eth_stats *before)
{
    struct rte_eth_stats now = *before;

    port_stats(port, &now);
    counts->rx_missed = now.imissed - before->imissed;
    counts->rx_errors = now.ierrors - before->ierrors;
    counts->rx_no_mbuf = now.rx_nombuf - before->rx_nombuf;
    counts->buffers_in_use = buffers_in_use(port);
    counts->link_up = port_link_up(port);
    *before = now;
}

static void
add_stream(struct stream_counts *total, const struct stream_counts *counts)
{
    stream_counters_add(&total->frames, &counts->frames);
    histogram_add(&total->latency, &counts->latency);
    histogram_add(&total->latency_across_stalls, &counts->latency_across_stalls);
    histogram_add(&total->latency_less_stalls, &counts->latency_less_stalls);
    delayed_ends_add(&total->delayed_ends, &counts->delayed_ends);
    histogram_add(&total->lateness, &counts->lateness);
    microseconds_add(&total->microseconds, &counts->microseconds);
    worst_latencies_add(&total->worst, &counts->worst);
    loss_events_add(&total->losses, &counts->losses);
    refusals_add(&total->refusals, &counts->refusals);
    for (uint32_t i = 0; i < PROBE_OUTCOMES; i++)
        total->stamp_outcomes[i] += counts->stamp_outcomes[i];
    total->stamp_error = RTE_MAX(total->stamp_error, counts->stamp_error);
}

/* Done last: a sorted list takes no more in. */
static void
sort_stream(struct stream_counts *counts)
{
    worst_latencies_sort(&counts->worst);
    loss_events_sort(&counts->losses);
    refusals_sort(&counts->refusals);
}

static void
add_port(struct port_counts *total, const struct port_counts *counts)
{
    for (uint32_t kind = 0; kind < FOREIGN_KINDS; kind++)
        total->foreign[kind] += counts->foreign[kind];
    for (uint32_t kind = 0; kind < HOST_COUNTERS; kind++)
        total->host[kind] += counts->host[kind];
    total->stale += counts->stale;
    total->truncated += counts->truncated;
    total->rx_missed += counts->rx_missed;
    total->rx_errors += counts->rx_errors;
    total->rx_no_mbuf += counts->rx_no_mbuf;
    total->buffers_in_use = counts->buffers_in_use;
    total->link_up = counts->link_up;
}

static void
add_worker(struct worker_counts *total, const struct worker_counts *counts)
{
    stall_tally_add(&total->stalls, &counts->stalls);
    cycle_meter_add(&total->cycles, &counts->cycles);
}

/* Takes the closed page of everything that workers write. */
static void
take_page(struct trial *trial, uint32_t page)
{
    struct run *run = trial->run;

    for (uint32_t i = 0; i < run->stream_count; i++)
        take_stream(trial, i, page);
    for (uint32_t i = 0; i < run->worker_count; i++) {
        take_worker(&trial->interval, run->workers[i], i, page);
        add_worker(&trial->total.workers[i], &trial->interval.workers[i]);
        stall_tally_sort(&trial->interval.workers[i].stalls);
    }
}

void
collect_interval(struct trial *trial)
{
    clear(&trial->interval, trial->run);
    turn_pages(trial->run);
    take_page(trial, (trial->run->epoch & 1) ^ 1);
    for (uint32_t i = 0; i < trial->ports->count; i++) {
        take_port(&trial->interval.ports[i], &trial->ports->port[i], &trial->before[i]);
        add_port(&trial->total.ports[i], &trial->interval.ports[i]);
    }
    for (uint32_t i = 0; i < trial->run->stream_count; i++) {
        add_stream(&trial->total.streams[i], &trial->interval.streams[i]);
        sort_stream(&trial->interval.streams[i]);
    }
}

/* What all queues saw of a stream by flow, in the table of the first. */
static void
collect_flows(struct trial *trial, uint32_t index)
{
    const struct run *run = trial->run;
    struct flow_counts *all = NULL;

    for (uint32_t w = 0; w < run->worker_count; w++) {
        for (uint32_t q = 0; q < run->workers[w]->rx_queue_count; q++) {
            const struct rx_stream *stream = run->workers[w]->rx_queues[q].streams[index];

            if (!stream || !stream->flows)
                continue;
            if (all)
                flow_counts_add(all, stream->flows);
            else
                all = stream->flows;
        }
    }
    trial->flows[index] = all;
}

void
collect_end(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->run->stream_count; i++) {
        struct stream_counts *total = &trial->total.streams[i];
        const struct rx_counters *rx = &total->frames.rx;

        total->missing = (int64_t)(total->frames.tx.sent - (rx->received - rx->duplicate));
        sort_stream(total);
        collect_flows(trial, i);
    }
    for (uint32_t i = 0; i < trial->run->worker_count; i++)
        stall_tally_sort(&trial->total.workers[i].stalls);
}
