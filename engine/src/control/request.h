/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of the protocol as plain structs, and their reading from JSON. */
#ifndef PLIMSOLL_REQUEST_H
#define PLIMSOLL_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/complaint.h"
#include "dataplane/fields.h"

#define PORTS_MAX 16
#define WORKERS_MAX 64
#define STREAMS_MAX 64
#define CPUS_MAX 1024
#define FRAME_MIN_BYTES 60
#define FRAME_MAX_BYTES 9214
#define DEVARGS_MAX 1024

struct port_request {
    char devargs[DEVARGS_MAX + 1];
    uint16_t descriptors;
};

struct worker_request {
    uint32_t cpu;
    uint32_t tx_ports; /* bit p: sends on port p */
    uint32_t rx_ports;
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

enum stream_role { ROLE_LOAD, ROLE_LATENCY };

struct stream_request {
    uint16_t stream;
    enum stream_role role;
    uint16_t tx_port;
    uint16_t rx_port;
    double rate_pps;
    uint32_t frame_bytes; /* without FCS */
    uint8_t frame[FRAME_MAX_BYTES];
    struct fields fields;
};

struct trial_request {
    uint16_t mark;
    double duration_s;
    double drain_s;
    double interval_s;
    double catch_up_us;
    double stall_us;
    uint32_t stream_count;
    struct stream_request streams[STREAMS_MAX];
};

enum request_kind { REQUEST_OPEN, REQUEST_TRIAL, REQUEST_STOP };

/* Reads id and kind. Returns 0 or -EINVAL; `*id` is -1 when it could not be read. */
int request_head(const json_t *json, int64_t *id, enum request_kind *kind,
                 struct complaint *complaint);

int request_open(const json_t *json, struct open_request *request, struct complaint *complaint);

/* `port_count` ports are open and carry frames of at most `max_frame_bytes`. */
int request_trial(const json_t *json, uint32_t port_count, uint32_t max_frame_bytes,
                  struct trial_request *request, struct complaint *complaint);

int request_stop(const json_t *json, struct complaint *complaint);

#endif
