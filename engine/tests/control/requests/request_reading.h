/* SPDX-License-Identifier: Apache-2.0 */
/* Reads requests as the session does. */
#ifndef PLIMSOLL_REQUEST_READING_H
#define PLIMSOLL_REQUEST_READING_H

#include <errno.h>
#include <string.h>

#include "control/requests/request.h"
#include "unit_test.h"

/* What the vectors are made for: two open ports that stamp, with a queue each way, a host
 * on the first, and frames of any size. */
static const struct open_request reading_config = {
    .port_count = 2,
    .ports = {{.stamps = STAMPS_TIMESYNC,
               .rx_queues = 1,
               .tx_queues = 1,
               .host = {.present = true,
                        .address_count = 2,
                        .addresses = {{.version = 4, .bytes = {192, 0, 2, 1}},
                                      {.version = 6,
                                       .bytes = {0x20, 0x01, 0x0d, 0xb8, [15] = 1}}}}},
              {.stamps = STAMPS_TIMESYNC, .rx_queues = 1, .tx_queues = 1}},
    .max_frame_bytes = FRAME_MAX_BYTES,
};

/* What rates are changed of: streams of a rate each, and two that have none; and two captures. */
static const struct trial_request reading_trial = {
    .capture_count = 2,
    .captures = {{.port = 1}, {.port = 0}},
    .stream_count = 5,
    .streams = {{.stream = 0, .pacing = {.rated = true, .rate_pps = 10}},
                {.stream = 7, .pacing = {.kind = PACING_POISSON, .rated = true, .rate_pps = 10}},
                {.stream = 65535, .pacing = {.kind = PACING_ONE_IN_FLIGHT, .rated = true}},
                {.stream = 8, .pacing = {.kind = PACING_BACK_TO_BACK}},
                {.stream = 9, .pacing = {.kind = PACING_ONE_IN_FLIGHT}}},
};

/* Large enough that the stack is no place for them; cleared before each reading. */
static struct open_request open_request;
static struct trial_request trial_request;
static struct rates_request rates_request;
static struct capture_switch capture_switch;
static struct link_request link_request;
static struct resolve_request resolve_request;

static inline json_t *
parse(const char *text)
{
    json_error_t json_error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &json_error);

    if (!json)
        fail_msg("%s in %s", json_error.text, text);
    return json;
}

/* Reads any request as the session does. */
static inline int
read_request(const json_t *json, struct error *error)
{
    enum request_kind kind;
    int64_t id;

    memset(error, 0, sizeof(*error));
    memset(&open_request, 0, sizeof(open_request));
    trial_request_clear(&trial_request);
    if (request_head(json, &id, &kind, error) != 0)
        return -EINVAL;
    if (kind == REQUEST_OPEN)
        return request_open(json, &open_request, error);
    memset(&rates_request, 0, sizeof(rates_request));
    if (kind == REQUEST_RATES)
        return request_rates(json, &reading_trial, &rates_request, error);
    memset(&capture_switch, 0, sizeof(capture_switch));
    if (kind == REQUEST_CAPTURE)
        return request_capture(json, &reading_trial, &capture_switch, error);
    memset(&link_request, 0, sizeof(link_request));
    if (kind == REQUEST_LINK)
        return request_link(json, &reading_config, &link_request, error);
    memset(&resolve_request, 0, sizeof(resolve_request));
    if (kind == REQUEST_RESOLVE)
        return request_resolve(json, &reading_config, &resolve_request, error);
    if (kind == REQUEST_TRIAL)
        return request_trial(json, &reading_config, &trial_request, error);
    return request_stop(json, error);
}

static inline void
assert_refused(const char *text, const char *where, const char *message)
{
    struct error error;
    json_t *json = parse(text);

    assert_int_equal(read_request(json, &error), -EINVAL);
    assert_string_equal(error.where, where);
    assert_string_equal(error.message, message);
    json_decref(json);
}

#endif
