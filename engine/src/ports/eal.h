/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLIMSOLL_EAL_H
#define PLIMSOLL_EAL_H

#include "config/error.h"
#include "config/open_request.h"

/*
 * Starts DPDK with the request's memory, CPUs and PCI devices: the main thread floats on
 * main_cpus and sleeps, as DPDK's own threads do, worker i is lcore i + 1 on its own CPU.
 * Returns 0 or a negative errno; DPDK cannot be started a second time in a process.
 */
int eal_start(const struct open_request *request, struct error *error);

#endif
