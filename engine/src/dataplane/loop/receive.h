/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLIMSOLL_RECEIVE_H
#define PLIMSOLL_RECEIVE_H

#include "dataplane/loop/run.h"

#define RX_BURST 64

/* Polls one queue, measures what came, and returns how many frames that was. */
uint32_t receive(struct worker *worker, struct rx_queue *queue);

#endif
