/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/run_setup.h"

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <string.h>

#include "dataplane/transmit.h"

static void *
zeroed(size_t bytes, uint32_t lcore)
{
    return rte_zmalloc_socket("plimsoll", bytes, RTE_CACHE_LINE_SIZE,
                              (int)rte_lcore_to_socket_id(lcore));
}

/* The worker that sends on (or, with `rx`, receives from) a port; request_open() saw to it. */
static struct worker *
worker_of_port(const struct run *run, const struct open_request *config, uint16_t port, bool rx)
{
    uint32_t i = 0;

    while (!((rx ? config->workers[i].rx_ports : config->workers[i].tx_ports) >> port & 1))
        i++;
    return run->workers[i];
}

static struct worker *
make_worker(struct run *run, const struct worker_request *config, uint32_t number)
{
    struct worker *worker = zeroed(sizeof(*worker), number + 1);

    if (!worker)
        return NULL;
    worker->run = run;
    worker->cpu = config->cpu;
    worker->lcore = number + 1;
    for (uint16_t port = 0; port < PORTS_MAX; port++) {
        if (config->rx_ports >> port & 1)
            worker->rx_ports[worker->rx_port_count++] = port;
    }
    return worker;
}

static struct tx_stream *
make_tx_stream(struct worker *worker, const struct stream_request *request, const struct port *port)
{
    struct tx_stream *stream = zeroed(sizeof(*stream), worker->lcore);

    if (!stream)
        return NULL;
    stream->stream = request->stream;
    stream->dpdk_port = port->dpdk_port;
    stream->frame_bytes = (uint16_t)request->frame_bytes;
    stream->role = request->role;
    stream->most = request->role == ROLE_LATENCY ? 1 : TX_BURST;
    stream->rate_pps = request->rate_pps;
    stream->pool = port->tx_pool;
    stream->fields = request->fields;
    memcpy(stream->frame, request->frame, request->frame_bytes);
    histogram_clear(&stream->pages[0].lateness);
    histogram_clear(&stream->pages[1].lateness);
    worker->tx_streams[worker->tx_stream_count++] = stream;
    return stream;
}

static struct rx_stream *
make_rx_stream(const struct worker *worker, const struct worker *sender, uint16_t port)
{
    struct rx_stream *stream = zeroed(sizeof(*stream), worker->lcore);

    if (!stream)
        return NULL;
    stream->sender_stall = &sender->stall_mark;
    stream->port = port;
    for (uint32_t i = 0; i < 2; i++) {
        histogram_clear(&stream->pages[i].latency);
        histogram_clear(&stream->pages[i].latency_across_stalls);
    }
    return stream;
}

static bool
make_streams(struct run *run, const struct trial_request *request,
             const struct open_request *config, const struct ports *ports)
{
    memset(run->stream_index, NO_STREAM, sizeof(run->stream_index));
    for (uint32_t i = 0; i < request->stream_count; i++) {
        const struct stream_request *stream = &request->streams[i];
        struct worker *sender = worker_of_port(run, config, stream->tx_port, false);
        const struct worker *receiver = worker_of_port(run, config, stream->rx_port, true);

        run->tx_streams[i] = make_tx_stream(sender, stream, &ports->port[stream->tx_port]);
        run->rx_streams[i] = make_rx_stream(receiver, sender, stream->rx_port);
        run->stream_index[stream->stream] = (uint8_t)i;
        run->stream_count++;
        if (!run->tx_streams[i] || !run->rx_streams[i])
            return false;
    }
    return true;
}

static void
set_clock(struct run *run, const struct trial_request *request)
{
    const double hz = (double)rte_get_tsc_hz();

    run->ticks_per_second = hz;
    run->ns_per_tick = (uint64_t)(1e9 / hz * 4294967296.0 + 0.5);
    run->stall_ticks = (uint64_t)(request->stall_us * hz / 1e6);
    run->patience_ticks = (uint64_t)(request->catch_up_us * hz / 1e6);
}

struct run *
run_make(const struct trial_request *request, const struct open_request *config,
         const struct ports *ports)
{
    struct run *run = zeroed(sizeof(*run), rte_get_main_lcore());

    if (!run)
        return NULL;
    run->mark = request->mark;
    set_clock(run, request);
    for (uint32_t i = 0; i < ports->count; i++)
        run->dpdk_ports[i] = ports->port[i].dpdk_port;
    for (uint32_t i = 0; i < config->worker_count; i++) {
        run->workers[i] = make_worker(run, &config->workers[i], i);
        run->worker_count++;
        if (!run->workers[i])
            goto no_memory;
    }
    if (make_streams(run, request, config, ports))
        return run;
no_memory:
    run_free(run);
    return NULL;
}

void
run_free(struct run *run)
{
    for (uint32_t i = 0; i < run->stream_count; i++) {
        rte_free(run->tx_streams[i]);
        rte_free(run->rx_streams[i]);
    }
    for (uint32_t i = 0; i < run->worker_count; i++)
        rte_free(run->workers[i]);
    rte_free(run);
}
