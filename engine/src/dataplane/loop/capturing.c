/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/capturing.h"

#include <string.h>

#include "dataplane/loop/arrival.h"
#include "dataplane/loop/capture_ring.h"

static void
keep(const struct rx_queue *queue, const struct rte_mbuf *mbuf, uint64_t now)
{
    struct capture_ring *ring = queue->capture;
    const uint32_t kept = RTE_MIN(mbuf->pkt_len, ring->snap_bytes);
    uint8_t *copy = capture_ring_put(ring, arrival(queue, mbuf, now), mbuf->pkt_len, kept);

    if (!copy)
        return;
    const void *bytes = rte_pktmbuf_read(mbuf, 0, kept, copy);
    /* It is there already where the frame is in segments. */
    if (bytes != copy)
        memcpy(copy, bytes, kept);
}

void
capturing_take(const struct rx_queue *queue, struct rte_mbuf *const *mbufs, uint16_t count,
               uint64_t now)
{
    struct capture_ring *ring = queue->capture;
    const uint32_t state = atomic_load_explicit(ring->state, memory_order_relaxed);

    if (state == CAPTURE_FULL)
        capture_ring_leave_out(ring, count);
    if (state != CAPTURE_ON)
        return;
    for (uint16_t i = 0; i < count; i++)
        keep(queue, mbufs[i], now);
    capture_ring_publish(ring);
}
