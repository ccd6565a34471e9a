/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/receive.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "dataplane/signature.h"
#include "dataplane/worker_clock.h"

/* The measuring loop works on frame i while frame i + this many is on its way to the cache. */
#define PREFETCH_DISTANCE 4

static inline void
record_latency(const struct worker *worker, const struct rx_stream *stream, struct rx_page *page,
               uint64_t now, uint64_t stamp, uint32_t frames)
{
    const uint64_t latency = (now - stamp) & SIGNATURE_BITS48;
    const uint64_t sent_at = now - latency;
    const uint64_t ns = ticks_to_ns(worker->run, latency);

    if (unlikely(stall_mark_touches(&worker->stall_mark, sent_at, latency) ||
                 stall_mark_touches(stream->sender_stall, sent_at, latency)))
        histogram_record_many(&page->latency_across_stalls, ns, frames);
    else
        histogram_record_many(&page->latency, ns, frames);
}

/*
 * Frames that were sent in one burst and came one after the other, none between them
 * missing: they share stream, stamp and latency, so they are counted together.
 */
struct train {
    struct rx_stream *stream; /* NULL: there is none */
    struct signature_words next;
    uint64_t stamp;
    uint32_t followers; /* frames after the first */
};

static inline void
count_train(const struct worker *worker, const struct train *train, uint64_t now)
{
    const uint32_t frames = 1 + train->followers;

    if (!train->stream)
        return;
    struct rx_page *page = &train->stream->pages[worker->open_page];
    page->received += frames;
    sequence_advance(&train->stream->sequence, train->followers);
    record_latency(worker, train->stream, page, now, train->stamp, frames);
}

/* Whether the frame came in order. */
static inline bool
count_order(struct rx_stream *stream, struct rx_page *page, uint64_t sequence)
{
    const enum sequence_verdict verdict = sequence_see(&stream->sequence, sequence);

    page->out_of_order += verdict == SEQUENCE_OUT_OF_ORDER;
    page->duplicate += verdict == SEQUENCE_DUPLICATE;
    return verdict == SEQUENCE_IN_ORDER;
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
prefetch(const struct rte_mbuf *mbuf)
{
    rte_prefetch0(rte_pktmbuf_mtod_offset(mbuf, void *, mbuf->data_len - SIGNATURE_BYTES));
}

/* Where the frame's signature is; in `copy` when it is split over two segments. */
static inline const uint8_t *
find_signature(const struct rte_mbuf *mbuf, uint8_t *copy)
{
    if (likely(mbuf->data_len == mbuf->pkt_len && mbuf->data_len >= SIGNATURE_BYTES))
        return rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, mbuf->data_len - SIGNATURE_BYTES);
    if (mbuf->pkt_len < SIGNATURE_BYTES)
        return NULL;
    return rte_pktmbuf_read(mbuf, mbuf->pkt_len - SIGNATURE_BYTES, SIGNATURE_BYTES, copy);
}

/* Judges a frame that follows no other of the burst, and notes what may follow it. */
static void
begin_train(struct worker *worker, uint16_t port, struct signature_words words, struct train *train)
{
    const struct signature signature = signature_read(words);
    const uint8_t index = worker->run->stream_index[signature.stream];

    *train = (struct train){.next.complement = SIGNATURE_OF_NO_FRAME};
    if (unlikely(!signature.intact || signature.mark != worker->run->mark || index == NO_STREAM)) {
        count_stray(worker, port, &signature);
        return;
    }
    struct rx_stream *stream = worker->run->rx_streams[index];
    if (unlikely(stream->port != port)) {
        worker->strays[worker->open_page][index].misdirected++;
        return;
    }
    train->stream = stream;
    train->stamp = signature.time;
    if (count_order(stream, &stream->pages[worker->open_page], signature.sequence))
        train->next = signature_next(words);
}

static inline void
measure_burst(struct worker *worker, uint16_t port, struct rte_mbuf **mbufs, uint16_t count,
              uint64_t now)
{
    struct train train = {.next.complement = SIGNATURE_OF_NO_FRAME};
    uint8_t copy[SIGNATURE_BYTES];

    for (uint16_t i = 0; i < count; i++) {
        if (i + PREFETCH_DISTANCE < count)
            prefetch(mbufs[i + PREFETCH_DISTANCE]);
        const uint8_t *at = find_signature(mbufs[i], copy);
        if (unlikely(!at)) {
            worker->ports[worker->open_page][port].foreign++;
            continue;
        }
        const struct signature_words words = signature_load(at);
        if (likely(signature_same(words, train.next))) {
            train.followers++;
            train.next = signature_next(words);
            continue;
        }
        count_train(worker, &train, now);
        begin_train(worker, port, words, &train);
    }
    count_train(worker, &train, now);
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
        prefetch(mbufs[i]);
    measure_burst(worker, port, mbufs, count, now);
    rte_pktmbuf_free_bulk(mbufs, count);
    return count;
}
