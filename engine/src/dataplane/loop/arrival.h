/* SPDX-License-Identifier: Apache-2.0 */
/* When a frame came, by the port itself where it stamps what it receives. */
#ifndef PLIMSOLL_ARRIVAL_H
#define PLIMSOLL_ARRIVAL_H

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "dataplane/loop/run.h"
#include "dataplane/time/port_clock.h"

static inline bool
is_stamped(const struct rx_queue *queue, const struct rte_mbuf *mbuf)
{
    return queue->clock && (mbuf->ol_flags & queue->stamp_flag) != 0;
}

/* As TSC. `now` is that of the frame's burst, and for frames that the port did not stamp. */
static inline uint64_t
arrival(const struct rx_queue *queue, const struct rte_mbuf *mbuf, uint64_t now)
{
    if (!is_stamped(queue, mbuf))
        return now;
    return port_clock_to_tsc(
        queue->clock, *RTE_MBUF_DYNFIELD(mbuf, queue->stamp_offset, const rte_mbuf_timestamp_t *));
}

#endif
