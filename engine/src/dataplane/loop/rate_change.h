/* SPDX-License-Identifier: Apache-2.0 */
/* New rates, as a polling loop takes them over between two of its turns. */
#ifndef PLIMSOLL_RATE_CHANGE_H
#define PLIMSOLL_RATE_CHANGE_H

#include "dataplane/loop/run.h"

/*
 * For the main thread: gives all workers the rates, and returns when each has taken its own
 * over. One whose CPU was taken away does when it gets it back, so there is no time limit.
 */
void rate_change_give(struct run *run, const struct rates_request *request);

/* For a worker: gives its own streams the rates of run.rates, and reports `epoch` back. */
void rate_change_take(struct worker *worker, uint32_t epoch);

#endif
