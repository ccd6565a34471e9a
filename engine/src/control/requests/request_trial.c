/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "control/requests/request_parts.h"
#include "dataplane/measures/worst_latencies.h"
#include "dataplane/time/stall.h"

/* Of streams whose ports stamp them, each has its ports' stamps to itself. */
static int
check_stamps(const struct object *object, const struct stream_request *stream,
             const struct stream_request *other)
{
    if (!stream->port_stamps || !other->port_stamps)
        return 0;
    if (stream->tx_port == other->tx_port)
        return object_set_error(object, "stamps", "port %u already stamps what stream %u sends",
                                stream->tx_port, other->stream);
    if (stream->rx_port == other->rx_port)
        return object_set_error(object, "stamps", "port %u already stamps what comes of stream %u",
                                stream->rx_port, other->stream);
    return 0;
}

static int
read_streams(const struct object *top, const struct open_request *config,
             struct trial_request *request)
{
    struct object element;
    const json_t *array;

    if (read_array(top, "streams", REQUIRED, 0, STREAMS_MAX, &array) != 0)
        return -EINVAL;
    if (config->port_count == 0 && json_array_size(array) > 0)
        return object_set_error(top, "streams", "there is no port to send on");
    for (uint32_t i = 0; i < json_array_size(array); i++) {
        struct stream_request *stream = &request->streams[i];
        int status = element_object(top, "streams", array, i, &element);

        request->stream_count++;
        if (status == 0)
            status = read_stream(&element, config, stream);
        if (status != 0)
            return status;
        for (uint32_t other = 0; other < i; other++) {
            if (request->streams[other].stream == stream->stream)
                return object_set_error(&element, "stream", "number %u is used twice",
                                        stream->stream);
            if (check_stamps(&element, stream, &request->streams[other]) != 0)
                return -EINVAL;
        }
    }
    return 0;
}

/* The bit of the stream of that number; 0 where there is none. */
static uint64_t
bit_of(const struct trial_request *request, uint64_t number)
{
    for (uint32_t i = 0; i < request->stream_count; i++) {
        if (request->streams[i].stream == number)
            return UINT64_C(1) << i;
    }
    return 0;
}

static int
read_loss_limit(const struct object *object, const struct trial_request *request,
                struct loss_limit *limit)
{
    static const char *const names[] = {"frames", "streams", "refused", NULL};
    uint64_t frames = 0, number = 0;
    const json_t *array;

    if (object_knows(object, names) != 0 ||
        read_integer(object, "frames", REQUIRED, 0, INT64_MAX, &frames) != 0 ||
        read_bool(object, "refused", OPTIONAL, &limit->refused) != 0 ||
        read_array(object, "streams", REQUIRED, 1, STREAMS_MAX, &array) != 0)
        return -EINVAL;
    limit->frames = (int64_t)frames;
    for (size_t i = 0; i < json_array_size(array); i++) {
        uint64_t bit;

        if (element_integer(object, "streams", array, i, UINT16_MAX, &number) != 0)
            return -EINVAL;
        bit = bit_of(request, number);
        if (!bit)
            return object_set_error(object, "streams", "there is no stream %" PRIu64, number);
        limit->streams |= bit;
    }
    return 0;
}

/* They name streams, which are therefore read before. */
static int
read_loss_limits(const struct object *top, struct trial_request *request)
{
    struct object element;
    const json_t *array;

    if (read_array(top, "loss_limits", OPTIONAL, 0, LOSS_LIMITS_MAX, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (element_object(top, "loss_limits", array, i, &element) != 0 ||
            read_loss_limit(&element, request, &request->loss_limits[i]) != 0)
            return -EINVAL;
        request->loss_limit_count++;
    }
    return 0;
}

static int
read_cpu_time_of(const struct object *top, struct trial_request *request)
{
    const json_t *array;
    uint64_t pid = 0;

    if (read_array(top, "cpu_time_of", OPTIONAL, 0, PROCESSES_MAX, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (element_integer(top, "cpu_time_of", array, i, INT32_MAX, &pid) != 0)
            return -EINVAL;
        request->cpu_time_of[request->cpu_time_of_count++] = (int32_t)pid;
    }
    return 0;
}

static int
read_check(const struct object *top, enum check_kind *check)
{
    const char *name = "signature";

    if (read_string(top, "check", OPTIONAL, 16, &name) != 0)
        return -EINVAL;
    *check = strcmp(name, "checksums") == 0 ? CHECK_CHECKSUMS : CHECK_SIGNATURE;
    if (*check == CHECK_SIGNATURE && strcmp(name, "signature") != 0)
        return object_set_error(top, "check", "is signature or checksums");
    return 0;
}

int
request_trial(const json_t *json, const struct open_request *config, struct trial_request *request,
              struct error *error)
{
    static const char *const names[] = {
        "id",          "request",     "mark",     "duration_s",    "drain_s",
        "interval_s",  "catch_up_us", "stall_us", "gap_us",        "longest",
        "worst",       "spike_us",    "hold_s",   "cpu_time_of",   "streams",
        "check",       "loss_limits", "captures", "begin_delay_s", "end_with_streams",
        "report_ends", NULL};
    const struct object top = object_top(json, error);
    uint64_t mark = 0, worst = 16, longest = 16;
    int status;

    request->begin_delay_s = BEGIN_DELAY_MIN_S;
    request->interval_s = 1;
    request->catch_up_us = 1000;
    request->stall_us = 20;
    request->gap_us = 1;
    if (object_knows(&top, names) != 0 ||
        read_integer(&top, "mark", REQUIRED, 1, UINT16_MAX - 1, &mark) != 0 ||
        read_number(&top, "duration_s", REQUIRED, DURATION_MIN_S, TRIAL_MAX_S,
                    &request->duration_s) != 0 ||
        read_number(&top, "begin_delay_s", OPTIONAL, BEGIN_DELAY_MIN_S, 1,
                    &request->begin_delay_s) != 0 ||
        read_number(&top, "drain_s", REQUIRED, 0, 60, &request->drain_s) != 0 ||
        read_bool(&top, "end_with_streams", OPTIONAL, &request->end_with_streams) != 0 ||
        read_bool(&top, "report_ends", OPTIONAL, &request->report_ends) != 0 ||
        read_number(&top, "interval_s", OPTIONAL, 0.01, 60, &request->interval_s) != 0 ||
        read_number(&top, "catch_up_us", OPTIONAL, 10, 1e6, &request->catch_up_us) != 0 ||
        read_number(&top, "stall_us", OPTIONAL, 1, 1e6, &request->stall_us) != 0 ||
        read_number(&top, "gap_us", OPTIONAL, 0, 1e6, &request->gap_us) != 0 ||
        read_integer(&top, "longest", OPTIONAL, 0, STALL_LONGEST_MAX, &longest) != 0 ||
        read_integer(&top, "worst", OPTIONAL, 0, WORST_LIMIT_MAX, &worst) != 0 ||
        read_number(&top, "spike_us", OPTIONAL, 0.001, 1e9, &request->spike_us) != 0 ||
        read_number(&top, "hold_s", OPTIONAL, 0, TRIAL_MAX_S, &request->hold_s) != 0 ||
        read_check(&top, &request->check) != 0 || read_cpu_time_of(&top, request) != 0 ||
        read_captures(&top, config, request) != 0)
        return -EINVAL;
    request->mark = (uint16_t)mark;
    request->worst = (uint32_t)worst;
    request->longest = (uint32_t)longest;
    status = read_streams(&top, config, request);
    return status == 0 ? read_loss_limits(&top, request) : status;
}
