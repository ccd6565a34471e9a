/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLIMSOLL_TRANSMIT_H
#define PLIMSOLL_TRANSMIT_H

#include "dataplane/loop/run.h"

/* Frames handed to a port at once: one cache line of mbuf pointers times eight. */
#define TX_BURST FIELDS_BURST

/*
 * Sends what is due of one stream at `now` (TSC), at most a burst, and returns how
 * many frames were due. Those the port has no room for are counted as refused and
 * not tried again: a queue that its reader does not empty is that reader's loss.
 */
uint32_t transmit(struct worker *worker, struct tx_stream *stream, uint64_t now);

#endif
