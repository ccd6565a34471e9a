/* SPDX-License-Identifier: Apache-2.0 */
/* What one trial sends, and what it reports. */
#ifndef PLIMSOLL_TRIAL_REQUEST_H
#define PLIMSOLL_TRIAL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "config/capture_request.h"
#include "config/limits.h"
#include "config/stream_request.h"

/* The most `frames` that some streams may lose together before the trial ends. */
struct loss_limit {
    int64_t frames;
    uint64_t streams; /* a bit for each, in the request's order */
    bool refused;     /* frames that found no room in the port count as lost */
};

/* What says that a received frame is whole: its signature alone, or its checksums as well. */
enum check_kind { CHECK_SIGNATURE, CHECK_CHECKSUMS };

struct trial_request {
    uint16_t mark;
    double duration_s;
    double begin_delay_s; /* from the request to the first intended send */
    double drain_s;
    bool report_ends;      /* tell of each stream that ends */
    bool end_with_streams; /* sending and drain are over when there is nothing to wait for */
    double interval_s;
    double catch_up_us;
    double stall_us;
    double gap_us;    /* shorter gaps between two looks at the clock are not recorded */
    uint32_t longest; /* stalls listed of each worker and interval */
    uint32_t worst;   /* latencies listed of each stream and interval */
    enum check_kind check;
    double spike_us; /* longer ones are listed too; 0: none */
    double hold_s;   /* how long interval events may wait; 0: each is handed over as it ends */
    uint32_t loss_limit_count;
    struct loss_limit loss_limits[LOSS_LIMITS_MAX];
    uint32_t cpu_time_of_count;
    int32_t cpu_time_of[PROCESSES_MAX]; /* pids */
    uint32_t capture_count;
    struct capture_request captures[PORTS_MAX]; /* of a port each */
    uint32_t stream_count;
    struct stream_request streams[STREAMS_MAX];
};

/* Frees the streams' frames, orders, gaps and lists of values, and clears the request. */
void trial_request_clear(struct trial_request *request);

#endif
