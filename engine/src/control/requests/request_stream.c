/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "control/requests/request_parts.h"

static int
read_role(const struct object *object, enum stream_role *role)
{
    const char *name;

    if (read_string(object, "role", REQUIRED, 16, &name) != 0)
        return -EINVAL;
    if (strcmp(name, "load") != 0 && strcmp(name, "latency") != 0)
        return object_set_error(object, "role", "must be load or latency");
    *role = strcmp(name, "load") == 0 ? ROLE_LOAD : ROLE_LATENCY;
    return 0;
}

static int
read_path(const struct object *object, const struct open_request *config,
          struct stream_request *stream)
{
    uint64_t tx_port, rx_port, tx_queue = 0;

    if (read_integer(object, "tx_port", REQUIRED, 0, config->port_count - 1, &tx_port) != 0 ||
        read_integer(object, "rx_port", REQUIRED, 0, config->port_count - 1, &rx_port) != 0 ||
        read_integer(object, "tx_queue", OPTIONAL, 0, config->ports[tx_port].tx_queues - 1u,
                     &tx_queue) != 0)
        return -EINVAL;
    stream->tx_port = (uint16_t)tx_port;
    stream->rx_port = (uint16_t)rx_port;
    stream->tx_queue = (uint16_t)tx_queue;
    return 0;
}

/* A probe's latency needs the time that a short signature leaves out. */
static int
read_signature(const struct object *object, struct stream_request *stream)
{
    const char *name = "full";

    if (read_string(object, "signature", OPTIONAL, 16, &name) != 0)
        return -EINVAL;
    if (strcmp(name, "full") != 0 && strcmp(name, "short") != 0)
        return object_set_error(object, "signature", "must be full or short");
    stream->short_signature = strcmp(name, "short") == 0;
    if (stream->short_signature && stream->role == ROLE_LATENCY)
        return object_set_error(object, "signature", "must be full for latency streams");
    return 0;
}

/* A port has room for one stamp, so the next probe waits until the last one is back. */
static int
read_stamps(const struct object *object, const struct open_request *config,
            struct stream_request *stream)
{
    const char *name = "tsc";

    if (read_string(object, "stamps", OPTIONAL, 16, &name) != 0)
        return -EINVAL;
    if (strcmp(name, "tsc") != 0 && strcmp(name, "timesync") != 0)
        return object_set_error(object, "stamps", "must be tsc or timesync");
    stream->port_stamps = strcmp(name, "timesync") == 0;
    if (!stream->port_stamps)
        return 0;
    if (stream->role != ROLE_LATENCY || stream->pacing.kind != PACING_ONE_IN_FLIGHT)
        return object_set_error(object, "stamps",
                                "timesync is for latency streams with one probe in flight");
    if (config->ports[stream->tx_port].stamps != STAMPS_TIMESYNC ||
        config->ports[stream->rx_port].stamps != STAMPS_TIMESYNC)
        return object_set_error(object, "stamps", "its ports were not opened with timesync");
    return 0;
}

/* Each captured frame has its own time. */
static int
check_gaps(const struct object *object, const struct stream_request *stream)
{
    const uint32_t frames = stream->order_count > 0 ? stream->order_count : stream->template_count;

    if (stream->pacing.kind == PACING_CAPTURED && stream->pacing.round_frames != frames)
        return object_set_error(object, "pacing", "has %u gaps for an order of %u frames",
                                stream->pacing.round_frames, frames);
    return 0;
}

int
read_stream(const struct object *object, const struct open_request *config,
            struct stream_request *stream)
{
    static const char *const names[] = {
        "stream",   "role",      "tx_port", "tx_queue", "rx_port",     "frames",
        "order",    "rate_pps",  "pacing",  "fields",   "frame_count", "duration_s",
        "schedule", "signature", "flows",   "stamps",   NULL};
    uint64_t number;
    int status;

    if (object_knows(object, names) != 0 ||
        read_integer(object, "stream", REQUIRED, 0, UINT16_MAX, &number) != 0 ||
        read_role(object, &stream->role) != 0 || read_path(object, config, stream) != 0 ||
        read_integer(object, "frame_count", OPTIONAL, 1, INT64_MAX, &stream->frame_count) != 0 ||
        read_number(object, "duration_s", OPTIONAL, DURATION_MIN_S, TRIAL_MAX_S,
                    &stream->duration_s) != 0)
        return -EINVAL;
    stream->stream = (uint16_t)number;
    status = read_pacing(object, &stream->pacing);
    if (status != 0)
        return status;
    if (read_schedule(object, stream) != 0 || read_signature(object, stream) != 0 ||
        read_stamps(object, config, stream) != 0 || read_flows(object, stream) != 0)
        return -EINVAL;
    status = read_templates(object, config->max_frame_bytes, stream);
    if (status != 0)
        return status;
    return check_gaps(object, stream) == 0 ? read_fields(object, stream) : -EINVAL;
}
