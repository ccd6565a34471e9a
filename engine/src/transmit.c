/* SPDX-License-Identifier: Apache-2.0 */
#include "transmit.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>

#include "signature.h"

/* Two overlapping copies of fixed size are quicker than one of 42 bytes. */
static inline void
copy_template(uint8_t *frame, const struct tx_stream *stream)
{
    if (stream->frame_bytes == FRAME_MIN_BYTES) {
        memcpy(frame, stream->frame, 32);
        memcpy(frame + 28, stream->frame + 28, 32);
        return;
    }
    rte_memcpy(frame, stream->frame, stream->frame_bytes);
}

static inline void
build(struct tx_stream *stream, struct rte_mbuf *mbuf, uint16_t mark, uint64_t stamp)
{
    uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

    copy_template(frame, stream);
    fields_write(&stream->fields, frame);
    signature_write(frame + stream->frame_bytes - SIGNATURE_BYTES, mark, stream->stream,
                    stream->next_sequence++, stamp);
    mbuf->data_len = stream->frame_bytes;
    mbuf->pkt_len = stream->frame_bytes;
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

    if (rte_pktmbuf_alloc_bulk(stream->pool, mbufs, due) != 0) {
        page->skipped += due;
        return;
    }
    const uint64_t stamp = rte_rdtsc();
    for (uint32_t i = 0; i < due; i++)
        build(stream, mbufs[i], worker->run->mark, stamp);
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
