/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>

#include "config/rates_request.h"
#include "control/requests/request_parts.h"

/* The place of the stream of that number; `stream_count` where there is none. */
static uint32_t
place_of(const struct trial_request *trial, uint64_t number)
{
    uint32_t place = 0;

    while (place < trial->stream_count && trial->streams[place].stream != number)
        place++;
    return place;
}

static int
read_new_rate(const struct object *object, const struct trial_request *trial,
              struct rates_request *request)
{
    static const char *const names[] = {"stream", "rate_pps", "begin", "duration_s", NULL};
    double rate_pps = 0, duration_s = 0;
    uint64_t number = 0;
    bool begins = false;
    uint32_t place;

    if (object_knows(object, names) != 0 ||
        read_integer(object, "stream", REQUIRED, 0, UINT16_MAX, &number) != 0 ||
        read_rate_pps(object, REQUIRED, &rate_pps) != 0 ||
        read_bool(object, "begin", OPTIONAL, &begins) != 0 ||
        read_number(object, "duration_s", OPTIONAL, DURATION_MIN_S, TRIAL_MAX_S, &duration_s) != 0)
        return -EINVAL;
    place = place_of(trial, number);
    if (place == trial->stream_count)
        return object_set_error(object, "stream", "there is no stream %" PRIu64, number);
    if (request->streams & (UINT64_C(1) << place))
        return object_set_error(object, "stream", "number %" PRIu64 " is there twice", number);
    if (!trial->streams[place].pacing.rated)
        return object_set_error(object, "stream", "stream %" PRIu64 " is not paced by a rate",
                                number);
    request->streams |= UINT64_C(1) << place;
    request->begins |= (uint64_t)begins << place;
    request->rate_pps[place] = rate_pps;
    request->duration_s[place] = duration_s;
    return 0;
}

int
request_rates(const json_t *json, const struct trial_request *trial, struct rates_request *request,
              struct error *error)
{
    static const char *const names[] = {"id", "request", "streams", NULL};
    const struct object top = object_top(json, error);
    struct object element;
    const json_t *array;

    if (object_knows(&top, names) != 0 ||
        read_array(&top, "streams", REQUIRED, 0, STREAMS_MAX, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (element_object(&top, "streams", array, i, &element) != 0 ||
            read_new_rate(&element, trial, request) != 0)
            return -EINVAL;
    }
    return 0;
}
