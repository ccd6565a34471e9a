/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLIMSOLL_RUN_SETUP_H
#define PLIMSOLL_RUN_SETUP_H

#include "config/open_request.h"
#include "config/trial_request.h"
#include "dataplane/loop/run.h"
#include "ports/ports.h"

/* Lays out a trial's state, each worker's part on its own NUMA node; NULL without memory. */
struct run *run_make(const struct trial_request *request, const struct open_request *config,
                     struct ports *ports, double tsc_hz);

/* NULL is nothing to free. */
void run_free(struct run *run);

#endif
