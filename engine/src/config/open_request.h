/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine opens for all trials to come: memory, CPUs, ports, and who polls their queues. */
#ifndef PLIMSOLL_OPEN_REQUEST_H
#define PLIMSOLL_OPEN_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "config/host.h"
#include "config/limits.h"

/*
 * Who stamps frames: the worker; the port, all that it receives; or the port, probes that it
 * knows as PTP's when they leave and when they come (DPDK's timesync).
 */
enum stamps { STAMPS_TSC, STAMPS_HARDWARE, STAMPS_TIMESYNC };

struct port_request {
    char devargs[DEVARGS_MAX + 1];
    uint16_t descriptors;
    enum stamps stamps;
    uint16_t rx_queues; /* as many as the workers poll */
    uint16_t tx_queues;
    struct host host; /* the tester's own, if it is one there */
};

struct queue_request {
    uint16_t port;
    uint16_t queue;
};

struct worker_request {
    uint32_t cpu;
    uint32_t tx_count;
    uint32_t rx_count;
    struct queue_request tx[PORT_QUEUES_MAX];
    struct queue_request rx[PORT_QUEUES_MAX];
};

struct open_request {
    bool huge;
    uint32_t memory_megabytes;
    uint32_t main_cpu_count;
    uint32_t main_cpus[CPUS_MAX];
    uint32_t worker_count;
    struct worker_request workers[WORKERS_MAX];
    uint32_t port_count;
    struct port_request ports[PORTS_MAX];
    double link_wait_s;
    uint32_t max_frame_bytes;
};

#endif
