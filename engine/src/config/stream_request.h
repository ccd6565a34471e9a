/* SPDX-License-Identifier: Apache-2.0 */
/* What one stream of a trial sends, when, and between which ports. */
#ifndef PLIMSOLL_STREAM_REQUEST_H
#define PLIMSOLL_STREAM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "config/fields.h"
#include "config/pacing.h"
#include "config/stream_schedule.h"

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
    struct stream_schedule schedule;
    bool port_stamps;     /* its latency is between the two ports' stamps */
    bool short_signature; /* without a time: of frames that have no room for all of it */
    uint64_t frame_count; /* 0: no limit */
    double duration_s;    /* it ends so long after it began; 0: no limit */
    uint32_t template_count;
    struct template_request *templates;
    uint32_t order_count; /* 0: the templates take turns */
    uint16_t *order;
    uint32_t flow_count;  /* counted each by itself; 0: none is */
    uint32_t first_flow;  /* that of the first frame */
    struct fields fields; /* their lists of values belong to the request */
};

#endif
