/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/run_setup.h"

#include <math.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/frames/signature.h"
#include "dataplane/loop/answering.h"
#include "dataplane/loop/stamping.h"
#include "dataplane/loop/transmit.h"
#include "trial/stream_cover.h"

/* A queue that is full for long takes a frame now and then; at 10 kpps and more that is closer. */
#define REFUSAL_GAP_S 1e-4

/* A trial's list holds so many times an interval's. */
#define WORST_OF_TRIAL 4

static void *
zeroed(size_t bytes, uint32_t lcore)
{
    return rte_zmalloc_socket("plimsoll", bytes, RTE_CACHE_LINE_SIZE,
                              (int)rte_lcore_to_socket_id(lcore));
}

/* The worker that sends on a queue; request_open() saw to it that there is one. */
static struct worker *
sender_of(const struct run *run, const struct open_request *config, uint16_t port, uint16_t queue)
{
    for (uint32_t i = 0; i < config->worker_count; i++) {
        const struct worker_request *worker = &config->workers[i];

        for (uint32_t q = 0; q < worker->tx_count; q++) {
            if (worker->tx[q].port == port && worker->tx[q].queue == queue)
                return run->workers[i];
        }
    }
    return NULL;
}

static bool
make_rx_queues(struct worker *worker, const struct worker_request *config,
               const struct ports *ports)
{
    worker->rx_queues = zeroed((config->rx_count + 1) * sizeof(*worker->rx_queues), worker->lcore);
    if (!worker->rx_queues)
        return false;
    for (uint32_t i = 0; i < config->rx_count; i++) {
        const struct port *port = &ports->port[config->rx[i].port];

        worker->rx_queues[i] = (struct rx_queue){
            .port = config->rx[i].port,
            .dpdk_port = port->dpdk_port,
            .queue = config->rx[i].queue,
            .clock = port->hardware_clock ? &port->clock : NULL,
            .stamp_offset = ports->stamp_offset,
            .stamp_flag = ports->stamp_flag,
            .port_sums = port->checks_sums,
        };
    }
    worker->rx_queue_count = config->rx_count;
    return true;
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
    stall_tally_clear(&worker->stalls[0]);
    stall_tally_clear(&worker->stalls[1]);
    return worker;
}

static bool
make_workers(struct run *run, const struct open_request *config, const struct ports *ports)
{
    for (uint32_t i = 0; i < config->worker_count; i++) {
        run->workers[i] = make_worker(run, &config->workers[i], i);
        if (!run->workers[i])
            return false;
        run->worker_count++;
        if (!make_rx_queues(run->workers[i], &config->workers[i], ports))
            return false;
    }
    return true;
}

/* Where a port has a host, each queue gets a box for its answers. */
static bool
make_tx_mailboxes(struct run *run, const struct open_request *config, const struct ports *ports)
{
    for (uint32_t w = 0; w < run->worker_count; w++) {
        for (uint32_t q = 0; q < run->workers[w]->rx_queue_count; q++) {
            struct rx_queue *queue = &run->workers[w]->rx_queues[q];
            const struct port *port = &ports->port[queue->port];

            if (!port->host.present)
                continue;
            queue->answers = zeroed(sizeof(*queue->answers), run->workers[w]->lcore);
            if (!queue->answers)
                return false;
            queue->answers->port = queue->port;
            queue->answers->dpdk_port = port->dpdk_port;
            queue->answers->pool = port->tx_pool[0];
            queue->sender = sender_of(run, config, queue->port, 0);
            queue->host = &port->host;
        }
    }
    return true;
}

static struct flight *
make_flight(const struct run *run, const struct pacing *pacing, uint32_t lcore)
{
    struct flight *flight = zeroed(sizeof(*flight), lcore);

    if (!flight)
        return NULL;
    flight->timeout = (uint64_t)(pacing->timeout_us * run->ticks_per_second / 1e6);
    if (pacing->rate_pps > 0)
        flight->gap = (uint64_t)(run->ticks_per_second / pacing->rate_pps);
    return flight;
}

static struct stamping *
make_stamping(const struct run *run, const struct port *tx_port, const struct port *rx_port,
              uint32_t lcore)
{
    struct stamping *stamping = zeroed(sizeof(*stamping), lcore);

    if (!stamping)
        return NULL;
    stamping->tx_clock = &tx_port->clock;
    stamping->rx_clock = &rx_port->clock;
    stamping->tx_dpdk_port = tx_port->dpdk_port;
    for (uint32_t i = 0; i < 2; i++) {
        histogram_clear(&stamping->pages[i].latency);
        worst_latencies_open(&stamping->pages[i].worst, run->worst_limit, run->spike_ticks);
    }
    return stamping;
}

/* From the ordinary heap: thousands of frames of a capture must fit too. */
static bool
make_templates(struct tx_stream *stream, const struct stream_request *request)
{
    stream->templates = calloc(request->template_count, sizeof(stream->templates[0]));
    if (!stream->templates)
        return false;
    for (uint32_t i = 0; i < request->template_count; i++) {
        const struct template_request *from = &request->templates[i];
        struct tx_template *template = &stream->templates[i];

        template->bytes = from->bytes;
        template->mbuf_flags = request->port_stamps ? RTE_MBUF_F_TX_IEEE1588_TMST : 0;
        template->frame = from->frame;
        frame_fields_prepare(&template->fields, &request->fields, from->frame,
                             from->bytes - signature_bytes(request->short_signature));
    }
    stream->template_count = request->template_count;
    return true;
}

static void
describe_tx_stream(struct tx_stream *stream, const struct stream_request *request,
                   const struct port *port)
{
    stream->request = request;
    stream->stream = request->stream;
    stream->dpdk_port = port->dpdk_port;
    stream->queue = request->tx_queue;
    stream->pool = port->tx_pool[request->tx_queue];
    stream->role = request->role;
    stream->burst_limit = request->role == ROLE_LATENCY ? 1 : TX_BURST;
    stream->pacing = request->pacing.kind;
    stream->short_signature = request->short_signature;
    stream->windowed = request->schedule.limited;
    stream->rate_pps = request->pacing.rate_pps;
    stream->duration_s = request->duration_s;
    stream->order_count = request->order_count > 0 ? request->order_count : request->template_count;
    field_counters_start(&stream->counters, &request->fields);
    histogram_clear(&stream->pages[0].lateness);
    histogram_clear(&stream->pages[1].lateness);
}

/* Of a worker that sends: its stalls touch what others receive. */
static bool
make_stall_ring(const struct run *run, struct worker *sender)
{
    const double longest_s = (double)HISTOGRAM_HIGHEST / 1e9;

    return sender->stall_ring.capacity > 0 ||
           stall_ring_make(&sender->stall_ring, run->stall_ticks,
                           (uint64_t)(longest_s * run->ticks_per_second));
}

static bool
make_tx_stream(struct run *run, struct worker *worker, const struct stream_request *request,
               const struct ports *ports)
{
    const struct port *port = &ports->port[request->tx_port];
    struct tx_stream *stream = zeroed(sizeof(*stream), worker->lcore);

    if (!stream)
        return false;
    run->tx_streams[run->stream_count++] = stream;
    worker->tx_streams[worker->tx_stream_count++] = stream;
    describe_tx_stream(stream, request, port);
    run->short_signatures |= request->short_signature;
    if (request->pacing.kind == PACING_ONE_IN_FLIGHT) {
        stream->flight = make_flight(run, &request->pacing, worker->lcore);
        if (!stream->flight)
            return false;
    }
    if (request->port_stamps) {
        stream->stamping = make_stamping(run, port, &ports->port[request->rx_port], worker->lcore);
        if (!stream->stamping)
            return false;
    }
    return make_templates(stream, request);
}

static void
free_rx_stream(struct rx_stream *stream)
{
    if (!stream)
        return;
    flow_counts_free(stream->flows);
    rte_free(stream);
}

/* From the ordinary heap, as DPDK's memory was measured out before streams were known. */
static bool
make_flows(struct rx_stream *stream, const struct stream_request *request)
{
    if (request->flow_count == 0)
        return true;
    stream->flows = flow_counts_make(request->flow_count, request->first_flow);
    return stream->flows != NULL;
}

static struct rx_stream *
make_rx_stream(const struct worker *worker, const struct worker *sender,
               const struct tx_stream *sent, const struct stream_cover *cover,
               struct catch_up *catch_up)
{
    struct rx_stream *stream = zeroed(sizeof(*stream), worker->lcore);

    if (!stream)
        return NULL;
    stream->sender = sender;
    stream->catch_up = catch_up;
    stream->flight = sent->flight;
    stream->stamping = sent->stamping;
    stream->role = sent->role;
    stream->checked = cover->checkable;
    stream->least_cover = cover->least;
    for (uint32_t i = 0; i < 2; i++) {
        histogram_clear(&stream->pages[i].latency);
        histogram_clear(&stream->pages[i].latency_across_stalls);
        histogram_clear(&stream->pages[i].latency_less_stalls);
        delayed_ends_clear(&stream->pages[i].delayed_ends);
        worst_latencies_open(&stream->pages[i].worst, worker->run->worst_limit,
                             worker->run->spike_ticks);
    }
    return stream;
}

/* One for each queue of the port that the stream comes in on. */
static bool
make_rx_streams(struct run *run, const struct worker *sender, uint32_t index,
                const struct port *port, uint16_t rx_port)
{
    const struct stream_cover cover = run->checks_frames ? stream_cover(run->tx_streams[index])
                                                         : (struct stream_cover){false, COVER_NONE};

    for (uint32_t w = 0; w < run->worker_count; w++) {
        struct worker *worker = run->workers[w];

        for (uint32_t q = 0; q < worker->rx_queue_count; q++) {
            struct rx_queue *queue = &worker->rx_queues[q];

            if (queue->port != rx_port)
                continue;
            queue->streams[index] =
                make_rx_stream(worker, sender, run->tx_streams[index], &cover,
                               port->rx_queues == 1 ? &queue->catch_ups[sender->lcore - 1] : NULL);
            if (!queue->streams[index] ||
                !make_flows(queue->streams[index], run->tx_streams[index]->request))
                return false;
            queue->streams[index]->sole_queue = port->rx_queues == 1;
        }
    }
    return true;
}

static bool
make_streams(struct run *run, const struct trial_request *request,
             const struct open_request *config, const struct ports *ports)
{
    memset(run->stream_index, NO_STREAM, sizeof(run->stream_index));
    for (uint32_t i = 0; i < request->stream_count; i++) {
        const struct stream_request *stream = &request->streams[i];
        struct worker *sender = sender_of(run, config, stream->tx_port, stream->tx_queue);

        run->stream_index[stream->stream] = (uint8_t)i;
        if (!make_stall_ring(run, sender) || !make_tx_stream(run, sender, stream, ports) ||
            !make_rx_streams(run, sender, i, &ports->port[stream->rx_port], stream->rx_port))
            return false;
    }
    return true;
}

static void
set_clock(struct run *run, const struct trial_request *request, double hz)
{
    run->ticks_per_second = hz;
    run->ns_per_tick = (uint64_t)(1e9 / hz * 4294967296.0 + 0.5);
    run->stall_ticks = (uint64_t)(request->stall_us * hz / 1e6);
    /* A stall is a gap, however short. */
    run->gap_ticks = RTE_MIN((uint64_t)(request->gap_us * hz / 1e6), run->stall_ticks);
    run->worst_limit = RTE_MIN(request->worst * WORST_OF_TRIAL, (uint32_t)WORST_LIMIT_MAX);
    run->spike_ticks =
        request->spike_us > 0 ? (uint64_t)ceil(request->spike_us * hz / 1e6) : NO_SPIKE;
    run->refusal_gap_ticks = (uint64_t)(REFUSAL_GAP_S * hz);
    run->patience_ticks = (uint64_t)(request->catch_up_us * hz / 1e6);
}

struct run *
run_make(const struct trial_request *request, const struct open_request *config,
         struct ports *ports, double tsc_hz)
{
    struct run *run = zeroed(sizeof(*run), rte_get_main_lcore());

    if (!run)
        return NULL;
    run->mark = request->mark;
    run->neighbours = &ports->neighbours;
    run->checks_frames = request->check == CHECK_CHECKSUMS;
    set_clock(run, request, tsc_hz);
    if (make_workers(run, config, ports) && make_tx_mailboxes(run, config, ports) &&
        make_streams(run, request, config, ports))
        return run;
    run_free(run);
    return NULL;
}

static void
free_worker(const struct run *run, struct worker *worker)
{
    for (uint32_t q = 0; q < worker->rx_queue_count; q++) {
        for (uint32_t i = 0; i < run->stream_count; i++)
            free_rx_stream(worker->rx_queues[q].streams[i]);
        rte_free(worker->rx_queues[q].answers);
    }
    stall_ring_free(&worker->stall_ring);
    rte_free(worker->rx_queues);
    rte_free(worker);
}

void
run_free(struct run *run)
{
    if (!run)
        return;
    for (uint32_t i = 0; i < run->worker_count; i++)
        free_worker(run, run->workers[i]);
    for (uint32_t i = 0; i < run->stream_count; i++) {
        free(run->tx_streams[i]->templates);
        rte_free(run->tx_streams[i]->flight);
        rte_free(run->tx_streams[i]->stamping);
        rte_free(run->tx_streams[i]);
    }
    rte_free(run);
}
