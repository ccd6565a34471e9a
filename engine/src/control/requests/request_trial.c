/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "control/requests/request_parts.h"
#include "dataplane/measures/worst_latencies.h"
#include "dataplane/time/stall.h"

static int
read_streams(const struct object *top, const struct open_request *config,
             struct trial_request *request)
{
    struct object element;
    const json_t *array;

    if (read_array(top, "streams", REQUIRED, 0, STREAMS_MAX, &array) != 0)
        return -EINVAL;
    if (config->port_count == 0 && json_array_size(array) > 0)
        return object_complain(top, "streams", "there is no port to send on");
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
                return object_complain(&element, "stream", "number %u is used twice",
                                       stream->stream);
        }
    }
    return 0;
}

static int
read_hold(const struct object *top, struct hold_request *hold)
{
    static const char *const names[] = {"seconds", "lost_frames", NULL};
    struct object object;

    hold->lost_frames = UINT64_MAX;
    if (!json_object_get(top->json, "hold"))
        return 0;
    if (read_object(top, "hold", &object) != 0 || object_knows(&object, names) != 0 ||
        read_number(&object, "seconds", REQUIRED, 0, 604800, &hold->seconds) != 0)
        return -EINVAL;
    return read_integer(&object, "lost_frames", OPTIONAL, 0, INT64_MAX, &hold->lost_frames);
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
        return object_complain(top, "check", "is signature or checksums");
    return 0;
}

int
request_trial(const json_t *json, const struct open_request *config, struct trial_request *request,
              struct complaint *complaint)
{
    static const char *const names[] = {
        "id",          "request",     "mark",    "duration_s", "drain_s", "interval_s",
        "catch_up_us", "stall_us",    "gap_us",  "longest",    "worst",   "spike_us",
        "hold",        "cpu_time_of", "streams", "check",      NULL};
    const struct object top = object_top(json, complaint);
    uint64_t mark = 0, worst = 16, longest = 16;

    request->interval_s = 1;
    request->catch_up_us = 1000;
    request->stall_us = 20;
    request->gap_us = 1;
    if (object_knows(&top, names) != 0 ||
        read_integer(&top, "mark", REQUIRED, 1, UINT16_MAX - 1, &mark) != 0 ||
        read_number(&top, "duration_s", REQUIRED, 0.001, 604800, &request->duration_s) != 0 ||
        read_number(&top, "drain_s", REQUIRED, 0, 60, &request->drain_s) != 0 ||
        read_number(&top, "interval_s", OPTIONAL, 0.01, 60, &request->interval_s) != 0 ||
        read_number(&top, "catch_up_us", OPTIONAL, 10, 1e6, &request->catch_up_us) != 0 ||
        read_number(&top, "stall_us", OPTIONAL, 1, 1e6, &request->stall_us) != 0 ||
        read_number(&top, "gap_us", OPTIONAL, 0, 1e6, &request->gap_us) != 0 ||
        read_integer(&top, "longest", OPTIONAL, 0, STALL_LONGEST_MAX, &longest) != 0 ||
        read_integer(&top, "worst", OPTIONAL, 0, WORST_LIMIT_MAX, &worst) != 0 ||
        read_number(&top, "spike_us", OPTIONAL, 0.001, 1e9, &request->spike_us) != 0 ||
        read_hold(&top, &request->hold) != 0 || read_check(&top, &request->check) != 0 ||
        read_cpu_time_of(&top, request) != 0)
        return -EINVAL;
    request->mark = (uint16_t)mark;
    request->worst = (uint32_t)worst;
    request->longest = (uint32_t)longest;
    return read_streams(&top, config, request);
}
