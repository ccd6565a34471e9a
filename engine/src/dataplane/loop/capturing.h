/* SPDX-License-Identifier: Apache-2.0 */
/* What comes in on a queue whose port is captured, copied before anything else is done with it. */
#ifndef PLIMSOLL_CAPTURING_H
#define PLIMSOLL_CAPTURING_H

#include "dataplane/loop/run.h"

struct rte_mbuf;

/* For the worker that polls `queue`, which has a ring: keeps a burst that came at `now` (TSC). */
void capturing_take(const struct rx_queue *queue, struct rte_mbuf *const *mbufs, uint16_t count,
                    uint64_t now);

#endif
