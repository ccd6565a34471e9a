/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLIMSOLL_WORKER_H
#define PLIMSOLL_WORKER_H

#include "dataplane/loop/run.h"

/* The polling loop, for rte_eal_remote_launch(): `argument` is a struct worker. */
int worker_loop(void *argument);

#endif
