/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of the protocol as plain structs, and their reading from JSON. */
#ifndef PLIMSOLL_REQUEST_H
#define PLIMSOLL_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/complaint.h"
#include "dataplane/fields.h"
#include "dataplane/pacer.h"

#define PORTS_MAX 16
#define QUEUES_MAX 16 /* of a port, each way */
#define PORT_QUEUES_MAX (PORTS_MAX * QUEUES_MAX)
#define WORKERS_MAX 64
#define STREAMS_MAX 64
#define TEMPLATES_MAX 4096
#define ORDER_MAX 4096
#define FIELD_VALUES_MAX 4096
#define CPUS_MAX 1024
#define PROCESSES_MAX 64
#define FRAME_MIN_BYTES 60
#define FRAME_MAX_BYTES 9214
#define DEVARGS_MAX 1024

struct port_request {
    char devargs[DEVARGS_MAX + 1];
    uint16_t descriptors;
    bool hardware_stamps;
    uint16_t rx_queues; /* as many as the workers poll */
    uint16_t tx_queues;
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

enum stream_role { ROLE_LOAD, ROLE_LATENCY };

/* A frame without FCS, its signature not yet filled in. */
struct template_request {
    uint32_t bytes;
    uint8_t *frame;
};

struct stream_request {
    uint16_t stream;
    enum stream_role role;
    uint16_t tx_port;
    uint16_t tx_queue;
    uint16_t rx_port;
    struct pacing pacing;
    uint64_t frame_count; /* 0: no limit */
    uint32_t template_count;
    struct template_request *templates;
    uint32_t order_count; /* 0: the templates take turns */
    uint16_t *order;
    struct fields fields; /* their lists of values belong to the request */
};

/*
 * How long interval events may wait: `seconds`, or until `lost_frames` are missing or
 * refused in the trial, or a stream that sends receives nothing.
 */
struct hold_request {
    double seconds; /* 0: each is handed over as it ends */
    uint64_t lost_frames;
};

/* What says that a received frame is whole: its signature alone, or its checksums as well. */
enum check_kind { CHECK_SIGNATURE, CHECK_CHECKSUMS };

struct trial_request {
    uint16_t mark;
    double duration_s;
    double drain_s;
    double interval_s;
    double catch_up_us;
    double stall_us;
    double gap_us;    /* shorter gaps between two looks at the clock are not recorded */
    uint32_t longest; /* stalls listed of each worker and interval */
    uint32_t worst;   /* latencies listed of each stream and interval */
    enum check_kind check;
    double spike_us; /* longer ones are listed too; 0: none */
    struct hold_request hold;
    uint32_t cpu_time_of_count;
    int32_t cpu_time_of[PROCESSES_MAX]; /* pids */
    uint32_t stream_count;
    struct stream_request streams[STREAMS_MAX];
};

enum request_kind { REQUEST_OPEN, REQUEST_TRIAL, REQUEST_STOP };

/* Reads id and kind. Returns 0 or -EINVAL; `*id` is -1 when it could not be read. */
int request_head(const json_t *json, int64_t *id, enum request_kind *kind,
                 struct complaint *complaint);

int request_open(const json_t *json, struct open_request *request, struct complaint *complaint);

/*
 * Reads a trial for the ports of `config` into a cleared struct. Returns 0, -EINVAL or
 * -ENOMEM; in any case trial_request_clear() frees what was read.
 */
int request_trial(const json_t *json, const struct open_request *config,
                  struct trial_request *request, struct complaint *complaint);

void trial_request_clear(struct trial_request *request);

int request_stop(const json_t *json, struct complaint *complaint);

#endif
