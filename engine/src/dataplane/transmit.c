/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/transmit.h"

#include <assert.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>

#include "dataplane/signature.h"

/*
 * All but the signature, which is written anyway. Overlapping copies of fixed size are
 * quicker than one of 42 bytes.
 */
static inline void
copy_template(uint8_t *const *frames, uint32_t count, const struct tx_stream *stream)
{
    const uint32_t bytes = stream->frame_bytes - SIGNATURE_BYTES;

    if (bytes == FRAME_MIN_BYTES - SIGNATURE_BYTES) {
        for (uint32_t i = 0; i < count; i++) {
            memcpy(frames[i], stream->frame, 32);
            memcpy(frames[i] + 26, stream->frame + 26, 16);
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        rte_memcpy(frames[i], stream->frame, bytes);
}

/* Frames of one burst share its stamp. */
static inline void
sign(struct tx_stream *stream, uint8_t *const *frames, uint32_t count, uint16_t mark,
     uint64_t stamp)
{
    const uint32_t at = stream->frame_bytes - SIGNATURE_BYTES;
    struct signature_words words =
        signature_words(mark, stream->stream, stream->next_sequence, stamp);

    for (uint32_t i = 0; i < count; i++, words = signature_next(words))
        signature_store(frames[i] + at, words);
    stream->next_sequence += count;
}

/*
 * The part of an mbuf that drivers too write in one go when they receive. Its other
 * fields are as freeing left them: one segment, one reference.
 */
struct mbuf_head {
    uint16_t data_off;
    uint16_t refcnt;
    uint16_t nb_segs;
    uint16_t port;
    uint64_t ol_flags;
    uint32_t packet_type;
    uint32_t pkt_len;
    uint16_t data_len;
    uint16_t vlan_tci;
    uint32_t hash;
};
static_assert(offsetof(struct rte_mbuf, data_len) - offsetof(struct rte_mbuf, data_off) ==
                  offsetof(struct mbuf_head, data_len),
              "mbuf layout");

static inline uint8_t *
prepare(struct rte_mbuf *mbuf, const struct mbuf_head *head)
{
    memcpy((void *)&mbuf->rearm_data, head, sizeof(*head));
    return (uint8_t *)mbuf->buf_addr + RTE_PKTMBUF_HEADROOM;
}

/* One thing for all frames at a time, so that what it needs stays in registers. */
static inline void
build(struct tx_stream *stream, struct rte_mbuf **mbufs, uint32_t count, uint16_t mark,
      uint64_t stamp)
{
    const struct mbuf_head head = {.data_off = RTE_PKTMBUF_HEADROOM,
                                   .refcnt = 1,
                                   .nb_segs = 1,
                                   .port = RTE_MBUF_PORT_INVALID,
                                   .pkt_len = stream->frame_bytes,
                                   .data_len = stream->frame_bytes};
    uint8_t *frames[TX_BURST];

    for (uint32_t i = 0; i < count; i++)
        frames[i] = prepare(mbufs[i], &head);
    copy_template(frames, count, stream);
    fields_write(&stream->fields, frames, count);
    sign(stream, frames, count, mark, stamp);
}

/* What the port refused was never sent: its numbers and flows go to the next frames. */
static void
take_back(struct tx_stream *stream, struct rte_mbuf **mbufs, uint32_t count)
{
    rte_pktmbuf_free_bulk(mbufs, count);
    stream->next_sequence -= count;
    fields_rewind(&stream->fields, count);
}

/* Load frames share their burst's stamp; latency streams send one frame at a time. */
static void
send_due(const struct worker *worker, struct tx_stream *stream, uint32_t due)
{
    struct tx_page *page = &stream->pages[worker->open_page];
    struct rte_mbuf *mbufs[TX_BURST];
    uint32_t sent;

    if (rte_mempool_get_bulk(stream->pool, (void **)mbufs, due) != 0) {
        page->skipped += due;
        return;
    }
    const uint64_t stamp = rte_rdtsc();
    build(stream, mbufs, due, worker->run->mark, stamp);
    sent = rte_eth_tx_burst(stream->dpdk_port, 0, mbufs, (uint16_t)due);
    page->sent += sent;
    if (unlikely(sent < due)) {
        page->refused += due - sent;
        take_back(stream, mbufs + sent, due - sent);
    }
    if (stream->role == ROLE_LATENCY && sent > 0)
        histogram_record(
            &page->lateness,
            ticks_to_ns(worker->run, stamp - pacer_due_at(&stream->pacer, stream->pacer.next)));
}

uint32_t
transmit(const struct worker *worker, struct tx_stream *stream, uint64_t now)
{
    const uint64_t until = atomic_load_explicit(&worker->run->send_until, memory_order_relaxed);
    /* Frames meant for before the end are still sent after it, unless they are too late. */
    const uint64_t last_look = until + stream->pacer.patience;
    const uint64_t skipped = pacer_skip_late(&stream->pacer, now < last_look ? now : last_look);
    const uint32_t due = pacer_due(&stream->pacer, now < until ? now : until - 1, stream->most);

    if (unlikely(skipped > 0))
        stream->pages[worker->open_page].skipped += skipped;
    if (due == 0)
        return 0;
    send_due(worker, stream, due);
    stream->pacer.next += due;
    return due;
}
