/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/idle_ports.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <string.h>
#include <time.h>

#include "dataplane/frames/signature.h"
#include "dataplane/loop/answering.h"
#include "dataplane/loop/driver_memory.h"

#define BURST 32
/*
 * A queue that never falls silent must not keep the main thread from its requests: what it takes
 * at one look, and before a trial, which is more than the longest ring holds.
 */
#define BURSTS_MAX 64
#define BURSTS_OF_A_RING 2048
/* Between looks while an answer is awaited. */
#define PAUSE_NS 200000
#define HEAD_BYTES 64

/* The main thread stands in for a worker, of which none is in a driver now. */
#define STAND_IN 0

bool
idle_ports_have_hosts(const struct ports *ports)
{
    for (uint32_t i = 0; i < ports->count; i++) {
        if (ports->port[i].host.present)
            return true;
    }
    return false;
}

static bool
is_stale(const struct rte_mbuf *mbuf)
{
    uint8_t copy[SIGNATURE_BYTES];

    if (mbuf->pkt_len < SIGNATURE_BYTES)
        return false;
    const struct signature signature = signature_read(signature_load(
        rte_pktmbuf_read(mbuf, mbuf->pkt_len - SIGNATURE_BYTES, SIGNATURE_BYTES, copy)));
    return signature.intact && signature.mark != 0 && signature.mark != UINT16_MAX;
}

static void
count_foreign(struct port_page *page, const struct rte_mbuf *mbuf)
{
    const uint32_t length = RTE_MIN(mbuf->pkt_len, (uint32_t)HEAD_BYTES);
    uint8_t copy[HEAD_BYTES];

    const uint8_t *head = rte_pktmbuf_read(mbuf, 0, length, copy);

    if (cut_short(head, length, mbuf->pkt_len))
        page->truncated++;
    else
        page->foreign[foreign_kind(head, length)]++;
}

/* What a frame says of someone who is looked for. */
static void
learn(struct neighbours *neighbours, uint16_t port, const struct host_frame *read)
{
    struct neighbour *neighbour;

    if (read->claimed.version == 0)
        return;
    neighbour = neighbour_find(neighbours, port, &read->claimed);
    if (!neighbour || neighbour->known)
        return;
    neighbour->known = true;
    memcpy(neighbour->mac, read->claimed_mac, MAC_BYTES);
}

static void
take(struct port_page *page, struct ports *ports, uint16_t number, const struct rte_mbuf *mbuf)
{
    const struct port *port = &ports->port[number];
    uint8_t answer[HOST_FRAME_MAX];

    if (is_stale(mbuf)) {
        page->stale++;
        return;
    }
    const struct host_frame read =
        answering_read(&port->host, number, &ports->neighbours, mbuf, answer, page->host);
    if (read.kind == HOST_NOTHING)
        count_foreign(page, mbuf);
    learn(&ports->neighbours, number, &read);
    if (read.answer_bytes > 0 &&
        answering_transmit(port->dpdk_port, port->tx_pool[0], answer, read.answer_bytes))
        page->host[HOST_ANSWERED]++;
}

static void
serve_queue(struct idle_ports *idle, struct ports *ports, uint16_t number, uint16_t queue,
            uint32_t bursts)
{
    struct rte_mbuf *mbufs[BURST];
    uint16_t count = BURST;

    for (uint32_t burst = 0; burst < bursts && count > 0; burst++) {
        count = rte_eth_rx_burst(ports->port[number].dpdk_port, queue, mbufs, BURST);
        for (uint16_t i = 0; i < count; i++)
            take(&idle->pages[number], ports, number, mbufs[i]);
        rte_pktmbuf_free_bulk(mbufs, count);
    }
}

void
idle_ports_serve(struct idle_ports *idle, struct ports *ports)
{
    driver_memory_enter(STAND_IN);
    for (uint16_t number = 0; number < ports->count; number++) {
        if (!ports->port[number].host.present)
            continue;
        for (uint16_t queue = 0; queue < ports->port[number].rx_queues; queue++)
            serve_queue(idle, ports, number, queue, BURSTS_MAX);
    }
    driver_memory_leave(STAND_IN);
}

/*
 * All that has come to any port, so that `forget` leaves nothing of it. A packet socket even hears
 * every interface of the machine from when it is made until it is bound to its own.
 */
static void
empty(struct idle_ports *idle, struct ports *ports)
{
    driver_memory_enter(STAND_IN);
    for (uint16_t number = 0; number < ports->count; number++) {
        for (uint16_t queue = 0; queue < ports->port[number].rx_queues; queue++)
            serve_queue(idle, ports, number, queue, BURSTS_OF_A_RING);
    }
    driver_memory_leave(STAND_IN);
}

/* One request for each that is not known yet; false where there is none. */
static bool
ask(struct ports *ports)
{
    uint8_t frame[HOST_FRAME_MAX];
    bool sent = false;

    driver_memory_enter(STAND_IN);
    for (uint32_t i = 0; i < ports->neighbours.count; i++) {
        struct neighbour *each = &ports->neighbours.neighbour[i];
        const struct port *port = &ports->port[each->port];

        if (each->known)
            continue;
        answering_transmit(port->dpdk_port, port->tx_pool[0], frame,
                           host_frame_ask(&port->host, &each->address, frame));
        each->tries++;
        sent = true;
    }
    driver_memory_leave(STAND_IN);
    return sent;
}

static bool
all_known(const struct neighbours *neighbours)
{
    for (uint32_t i = 0; i < neighbours->count; i++) {
        if (!neighbours->neighbour[i].known)
            return false;
    }
    return true;
}

static double
now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Frames of earlier trials stay counted: that they were late is news to the next one. */
static void
forget(struct idle_ports *idle)
{
    for (uint32_t i = 0; i < PORTS_MAX; i++)
        idle->pages[i] = (struct port_page){.stale = idle->pages[i].stale};
}

void
idle_ports_resolve(struct idle_ports *idle, struct ports *ports,
                   const struct resolve_request *request, bool (*give_up)(void *), void *context)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    ports->neighbours.count = 0;
    /* What was said before the requests is old, and no answer. */
    empty(idle, ports);
    ports->neighbours = request->neighbours;
    for (uint32_t i = 0; i < request->tries && ask(ports); i++) {
        const double end_s = now_s() + request->wait_s;

        while (!all_known(&ports->neighbours) && now_s() < end_s && !give_up(context)) {
            nanosleep(&pause, NULL);
            idle_ports_serve(idle, ports);
        }
    }
    forget(idle);
}

void
idle_ports_hand_over(struct idle_ports *idle, struct run *run)
{
    memcpy(run->workers[0]->ports[0], idle->pages, sizeof(idle->pages));
    memset(idle, 0, sizeof(*idle));
}
