/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/answering.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <string.h>

#include "dataplane/loop/worker_clock.h"

/* What a frame says of a known neighbour, who may have moved. */
static void
note_claim(const struct neighbour *neighbour, const struct host_frame *read, uint64_t *counters)
{
    if (neighbour->known && memcmp(neighbour->mac, read->claimed_mac, MAC_BYTES) != 0)
        counters[HOST_MOVED]++;
}

struct host_frame
answering_read(const struct host *host, uint16_t port, struct neighbours *neighbours,
               const struct rte_mbuf *mbuf, uint8_t *answer, uint64_t *counters)
{
    uint8_t copy[HOST_FRAME_MAX];
    struct host_frame read = {.kind = HOST_NOTHING};
    struct neighbour *neighbour = NULL;

    if (mbuf->pkt_len > HOST_FRAME_MAX)
        return read;
    read = host_frame_read(host, rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, copy), mbuf->pkt_len,
                           answer);
    if (read.claimed.version != 0)
        neighbour = neighbour_find(neighbours, port, &read.claimed);
    if (neighbour)
        note_claim(neighbour, &read, counters);
    /* A neighbour's announcement is to all. */
    if (neighbour && read.kind == HOST_NOTHING)
        read.kind = HOST_HEARD;
    if (read.kind != HOST_NOTHING)
        counters[read.kind]++;
    return read;
}

bool
answering_transmit(uint16_t dpdk_port, struct rte_mempool *pool, const uint8_t *frame,
                   uint32_t bytes)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
    char *room = mbuf ? rte_pktmbuf_append(mbuf, (uint16_t)bytes) : NULL;

    if (room) {
        memcpy(room, frame, bytes);
        if (rte_eth_tx_burst(dpdk_port, 0, &mbuf, 1) == 1)
            return true;
    }
    rte_pktmbuf_free(mbuf);
    return false;
}

/* Whether an answer at `now` is within the rate, of which it then takes its part. */
static bool
within_rate(struct tx_mailbox *box, uint64_t now, double ticks_per_second)
{
    const uint64_t gap = (uint64_t)(ticks_per_second / ANSWERS_PER_SECOND);
    const uint64_t begin = box->next_at > now ? box->next_at : now;

    if (begin - now > (ANSWERS_AT_ONCE - 1) * gap)
        return false;
    box->next_at = begin + gap;
    return true;
}

static void
put_letter(struct worker *sender, struct tx_mailbox *box, uint32_t written, uint32_t bytes)
{
    box->letters[written % POST_LETTERS].bytes = bytes;
    atomic_store_explicit(&box->written, written + 1, memory_order_release);
    atomic_store_explicit(&sender->has_post, true, memory_order_release);
}

bool
answering_take(struct worker *worker, const struct rx_queue *queue, const struct rte_mbuf *mbuf)
{
    struct tx_mailbox *box = queue->answers;
    const uint32_t written = atomic_load_explicit(&box->written, memory_order_relaxed);
    const bool full =
        written - atomic_load_explicit(&box->sent, memory_order_acquire) == POST_LETTERS;
    uint8_t unsent[HOST_FRAME_MAX];
    const struct run *run = worker->run;
    const struct host_frame read =
        answering_read(queue->host, queue->port, run->neighbours, mbuf,
                       full ? unsent : box->letters[written % POST_LETTERS].frame,
                       worker->ports[worker->open_page][queue->port].host);

    if (read.kind == HOST_NOTHING)
        return false;
    if (read.answer_bytes > 0 && !full &&
        within_rate(box, last_look(worker), run->ticks_per_second))
        put_letter(queue->sender, box, written, read.answer_bytes);
    return true;
}

/* Sends the letters of one box; false where some are left. */
static bool
empty_box(struct worker *worker, struct tx_mailbox *box)
{
    uint32_t sent = atomic_load_explicit(&box->sent, memory_order_relaxed);

    while (sent != atomic_load_explicit(&box->written, memory_order_acquire)) {
        const struct letter *letter = &box->letters[sent % POST_LETTERS];

        if (!answering_transmit(box->dpdk_port, box->pool, letter->frame, letter->bytes))
            return false;
        worker->ports[worker->open_page][box->port].host[HOST_ANSWERED]++;
        atomic_store_explicit(&box->sent, ++sent, memory_order_release);
    }
    return true;
}

void
answering_send(struct worker *worker)
{
    const struct run *run = worker->run;
    bool emptied = true;

    /* Before the boxes are looked at: what is put into one from now on is seen next time. */
    atomic_exchange_explicit(&worker->has_post, false, memory_order_acq_rel);
    for (uint32_t w = 0; w < run->worker_count; w++) {
        for (uint32_t q = 0; q < run->workers[w]->rx_queue_count; q++) {
            const struct rx_queue *queue = &run->workers[w]->rx_queues[q];

            if (queue->answers && queue->sender == worker)
                emptied &= empty_box(worker, queue->answers);
        }
    }
    if (!emptied)
        atomic_store_explicit(&worker->has_post, true, memory_order_relaxed);
}
