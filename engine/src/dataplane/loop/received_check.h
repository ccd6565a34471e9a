/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a received frame of a stream is whole, by the port's word or by our own sums. */
#ifndef PLIMSOLL_RECEIVED_CHECK_H
#define PLIMSOLL_RECEIVED_CHECK_H

#include <rte_mbuf.h>

#include "dataplane/frames/frame_check.h"
#include "dataplane/loop/run.h"

/* The port found both checksums right. What it does not know or finds wrong we look at ourselves.
 */
static inline bool
port_vouches(const struct rx_queue *queue, const struct rte_mbuf *mbuf)
{
    const uint64_t both = RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK;

    return queue->port_sums &&
           (mbuf->ol_flags & both) == (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD);
}

static inline struct frame_check
check_received(struct worker *worker, const struct rx_queue *queue, const struct rte_mbuf *mbuf)
{
    if (port_vouches(queue, mbuf))
        return (struct frame_check){COVER_PACKET, false};
    if (likely(mbuf->data_len == mbuf->pkt_len))
        return frame_check(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->pkt_len);
    if (mbuf->pkt_len > sizeof(worker->gathered))
        return (struct frame_check){COVER_NONE, false};
    return frame_check(rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, worker->gathered), mbuf->pkt_len);
}

/* Counts what was checked of a frame of the stream; false when it is damaged. */
static inline bool
received_whole(struct worker *worker, const struct rx_queue *queue, struct rx_stream *stream,
               const struct rte_mbuf *mbuf)
{
    struct rx_page *page = &stream->pages[worker->open_page];

    if (!stream->checked)
        return true;
    const struct frame_check check = check_received(worker, queue, mbuf);

    if (unlikely(check.damaged))
        return false;
    page->frames.checked += check.cover == COVER_PACKET;
    page->frames.header_checked += check.cover == COVER_HEADER;
    page->frames.unchecked += check.cover < stream->least_cover;
    return true;
}

#endif
