/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/collect.h"

#include <string.h>
#include <time.h>

/* Only the streams in use: the main thread's work is taken from somebody's CPU. */
static void
clear(struct counts *counts, uint32_t stream_count)
{
    memset(counts->streams, 0, stream_count * sizeof(counts->streams[0]));
    memset(counts->ports, 0, sizeof(counts->ports));
    memset(counts->workers, 0, sizeof(counts->workers));
    for (uint32_t i = 0; i < stream_count; i++) {
        histogram_clear(&counts->streams[i].latency);
        histogram_clear(&counts->streams[i].latency_across_stalls);
        histogram_clear(&counts->streams[i].lateness);
    }
}

void
collect_begin(struct trial *trial)
{
    clear(&trial->total, trial->run->stream_count);
    for (uint32_t i = 0; i < trial->ports->count; i++)
        rte_eth_stats_get(trial->ports->port[i].dpdk_port, &trial->before[i]);
}

/*
 * A worker whose CPU was taken away turns its page when it gets it back; until then
 * nothing of it can be read, so there is no time limit here.
 */
static void
turn_pages(struct run *run)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000};
    const uint32_t epoch = atomic_load(&run->epoch) + 1;

    atomic_store_explicit(&run->epoch, epoch, memory_order_release);
    for (uint32_t i = 0; i < run->worker_count; i++) {
        while (atomic_load_explicit(&run->workers[i]->epoch, memory_order_acquire) != epoch)
            nanosleep(&pause, NULL);
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
take_stream(struct stream_counts *counts, struct tx_page *tx, struct rx_page *rx)
{
    counts->sent = tx->sent;
    counts->refused = tx->refused;
    counts->skipped = tx->skipped;
    tx->sent = tx->refused = tx->skipped = 0;
    take_histogram(&counts->lateness, &tx->lateness);
    counts->received = rx->received;
    counts->out_of_order = rx->out_of_order;
    counts->duplicate = rx->duplicate;
    counts->missing = rx->missing;
    rx->received = rx->out_of_order = rx->duplicate = 0;
    rx->missing = 0;
    take_histogram(&counts->latency, &rx->latency);
    take_histogram(&counts->latency_across_stalls, &rx->latency_across_stalls);
}

static void
take_worker(struct counts *counts, struct worker *worker, uint32_t number, uint32_t page)
{
    for (uint32_t i = 0; i < worker->run->stream_count; i++) {
        counts->streams[i].corrupt += worker->strays[page][i].corrupt;
        counts->streams[i].misdirected += worker->strays[page][i].misdirected;
    }
    for (uint32_t i = 0; i < worker->rx_port_count; i++) {
        const uint16_t port = worker->rx_ports[i];

        counts->ports[port].foreign += worker->ports[page][port].foreign;
        counts->ports[port].stale += worker->ports[page][port].stale;
    }
    counts->workers[number] = worker->stalls[page];
    memset(worker->strays[page], 0, sizeof(worker->strays[page]));
    memset(worker->ports[page], 0, sizeof(worker->ports[page]));
    memset(&worker->stalls[page], 0, sizeof(worker->stalls[page]));
}

static void
take_port(struct port_counts *counts, const struct port *port, struct rte_eth_stats *before)
{
    struct rte_eth_stats now = *before;

    rte_eth_stats_get(port->dpdk_port, &now);
    counts->rx_missed = now.imissed - before->imissed;
    counts->rx_errors = now.ierrors - before->ierrors;
    counts->rx_no_mbuf = now.rx_nombuf - before->rx_nombuf;
    counts->link_up = port_link_up(port);
    *before = now;
}

static void
add_stream(struct stream_counts *total, const struct stream_counts *counts)
{
    total->sent += counts->sent;
    total->refused += counts->refused;
    total->skipped += counts->skipped;
    total->received += counts->received;
    total->out_of_order += counts->out_of_order;
    total->duplicate += counts->duplicate;
    total->corrupt += counts->corrupt;
    total->misdirected += counts->misdirected;
    histogram_add(&total->latency, &counts->latency);
    histogram_add(&total->latency_across_stalls, &counts->latency_across_stalls);
    histogram_add(&total->lateness, &counts->lateness);
}

static void
add_port(struct port_counts *total, const struct port_counts *counts)
{
    total->foreign += counts->foreign;
    total->stale += counts->stale;
    total->rx_missed += counts->rx_missed;
    total->rx_errors += counts->rx_errors;
    total->rx_no_mbuf += counts->rx_no_mbuf;
    total->link_up = counts->link_up;
}

void
collect_interval(struct trial *trial)
{
    struct run *run = trial->run;
    struct counts *counts = &trial->interval;

    clear(counts, run->stream_count);
    turn_pages(run);
    const uint32_t page = (run->epoch & 1) ^ 1;
    for (uint32_t i = 0; i < run->stream_count; i++)
        take_stream(&counts->streams[i], &run->tx_streams[i]->pages[page],
                    &run->rx_streams[i]->pages[page]);
    for (uint32_t i = 0; i < run->worker_count; i++) {
        take_worker(counts, run->workers[i], i, page);
        stall_tally_add(&trial->total.workers[i], &counts->workers[i]);
        stall_tally_sort(&counts->workers[i]);
    }
    for (uint32_t i = 0; i < trial->ports->count; i++) {
        take_port(&counts->ports[i], &trial->ports->port[i], &trial->before[i]);
        add_port(&trial->total.ports[i], &counts->ports[i]);
    }
    for (uint32_t i = 0; i < run->stream_count; i++)
        add_stream(&trial->total.streams[i], &counts->streams[i]);
}

void
collect_end(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->run->stream_count; i++) {
        struct stream_counts *total = &trial->total.streams[i];

        total->missing = (int64_t)(total->sent - (total->received - total->duplicate));
    }
    for (uint32_t i = 0; i < trial->run->worker_count; i++)
        stall_tally_sort(&trial->total.workers[i]);
}
