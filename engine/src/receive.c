/* SPDX-License-Identifier: Apache-2.0 */
#include "receive.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "signature.h"
#include "worker_clock.h"

/* The measuring loop works on frame i while frame i + this many is on its way to the cache. */
#define PREFETCH_DISTANCE 4

static inline void
record_latency(const struct worker *worker, const struct rx_stream *stream, struct rx_page *page,
               uint64_t now, uint64_t stamp)
{
    const uint64_t latency = (now - stamp) & SIGNATURE_BITS48;
    const uint64_t sent_at = now - latency;
    const uint64_t ns = ticks_to_ns(worker->run, latency);

    if (unlikely(stall_mark_touches(&worker->stall_mark, sent_at, latency) ||
                 stall_mark_touches(stream->sender_stall, sent_at, latency)))
        histogram_record(&page->latency_across_stalls, ns);
    else
        histogram_record(&page->latency, ns);
}

static inline void
count_order(struct rx_stream *stream, struct rx_page *page, uint64_t sequence)
{
    const enum sequence_verdict verdict = sequence_see(&stream->sequence, sequence);

    page->received++;
    page->out_of_order += verdict == SEQUENCE_OUT_OF_ORDER;
    page->duplicate += verdict == SEQUENCE_DUPLICATE;
}

/* A frame without this trial's mark, or damaged. */
static void
count_stray(struct worker *worker, uint16_t port, const struct signature *signature)
{
    struct port_page *page = &worker->ports[worker->open_page][port];
    const uint8_t index = worker->run->stream_index[signature->stream];

    if (signature->mark == worker->run->mark && index != NO_STREAM)
        worker->strays[worker->open_page][index].corrupt++;
    else if (signature->intact && signature->mark != 0 && signature->mark != UINT16_MAX)
        page->stale++;
    else
        page->foreign++;
}

static inline void
measure(struct worker *worker, uint16_t port, const struct rte_mbuf *mbuf, uint64_t now)
{
    uint8_t copy[SIGNATURE_BYTES];
    const uint8_t *at;

    if (unlikely(mbuf->pkt_len < SIGNATURE_BYTES)) {
        worker->ports[worker->open_page][port].foreign++;
        return;
    }
    /* Copies only when the signature is split over two segments. */
    at = rte_pktmbuf_read(mbuf, mbuf->pkt_len - SIGNATURE_BYTES, SIGNATURE_BYTES, copy);
    const struct signature signature = signature_read(at);
    const uint8_t index = worker->run->stream_index[signature.stream];

    if (unlikely(!signature.intact || signature.mark != worker->run->mark || index == NO_STREAM)) {
        count_stray(worker, port, &signature);
        return;
    }
    struct rx_stream *stream = worker->run->rx_streams[index];
    if (unlikely(stream->port != port)) {
        worker->strays[worker->open_page][index].misdirected++;
        return;
    }
    struct rx_page *page = &stream->pages[worker->open_page];
    count_order(stream, page, signature.sequence);
    record_latency(worker, stream, page, now, signature.time);
}

uint32_t
receive(struct worker *worker, uint16_t port)
{
    struct rte_mbuf *mbufs[RX_BURST];
    const uint16_t count = rte_eth_rx_burst(worker->run->dpdk_ports[port], 0, mbufs, RX_BURST);

    if (count == 0)
        return 0;
    const uint64_t now = look_at_clock(worker);
    for (uint16_t i = 0; i < count && i < PREFETCH_DISTANCE; i++)
        rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
    for (uint16_t i = 0; i < count; i++) {
        if (i + PREFETCH_DISTANCE < count)
            rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH_DISTANCE], void *));
        measure(worker, port, mbufs[i], now);
    }
    rte_pktmbuf_free_bulk(mbufs, count);
    return count;
}
