/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "control/json_fields.h"
#include "control/request.h"

static int
hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return -1;
}

static int
read_frame(const struct object *object, uint32_t max_frame_bytes, struct stream_request *stream)
{
    const char *text;

    if (read_string(object, "frame", 2 * FRAME_MAX_BYTES, &text) != 0)
        return -EINVAL;
    const size_t digits = strlen(text);
    if (digits % 2 != 0 || digits < 2 * FRAME_MIN_BYTES || digits > 2u * max_frame_bytes)
        return object_complain(object, "frame", "must be %d to %u bytes in hexadecimal",
                               FRAME_MIN_BYTES, max_frame_bytes);
    for (size_t i = 0; i < digits; i += 2) {
        const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);

        if (high < 0 || low < 0)
            return object_complain(object, "frame", "not hexadecimal (0-9a-f) at byte %zu", i / 2);
        stream->frame[i / 2] = (uint8_t)(high << 4 | low);
    }
    stream->frame_bytes = (uint32_t)(digits / 2);
    return 0;
}

static int
read_fixes(const struct object *object, struct field *field)
{
    const json_t *array;
    uint64_t offset;

    field->fix_count = 0;
    if (read_array(object, "fixes", OPTIONAL, 0, FIELD_FIXES_MAX, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; array && i < json_array_size(array); i++) {
        if (element_integer(object, "fixes", array, i, FRAME_MAX_BYTES, &offset) != 0)
            return -EINVAL;
        field->fixes[field->fix_count++] = (uint16_t)offset;
    }
    return 0;
}

static int
read_field(const struct object *object, struct field *field)
{
    static const char *const names[] = {"offset", "width", "flows", "step", "fixes", NULL};
    uint64_t offset, width, flows, step = 1;

    if (object_knows(object, names) != 0 ||
        read_integer(object, "offset", REQUIRED, 0, FRAME_MAX_BYTES, &offset) != 0 ||
        read_integer(object, "width", REQUIRED, 1, 8, &width) != 0 ||
        read_integer(object, "flows", REQUIRED, 1, 1 << 24, &flows) != 0 ||
        read_integer(object, "step", OPTIONAL, 1, UINT32_MAX, &step) != 0 ||
        read_fixes(object, field) != 0)
        return -EINVAL;
    field->offset = (uint16_t)offset;
    field->width = (uint16_t)width;
    field->flows = (uint32_t)flows;
    field->step = (uint32_t)step;
    return 0;
}

/* The fields, which must leave the signature's place alone. */
static int
read_frame_fields(const struct object *object, struct stream_request *stream)
{
    const uint32_t writable = stream->frame_bytes - 18;
    struct object element;
    const json_t *array;

    stream->fields.count = 0;
    if (read_array(object, "fields", OPTIONAL, 0, FIELDS_MAX, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; array && i < json_array_size(array); i++) {
        if (element_object(object, "fields", array, i, &element) != 0 ||
            read_field(&element, &stream->fields.field[i]) != 0)
            return -EINVAL;
        stream->fields.count++;
    }
    if (fields_prepare(&stream->fields, stream->frame, writable) != 0)
        return object_complain(object, "fields",
                               "a field or a checksum it fixes lies outside the first %u bytes, or "
                               "they do not share an alignment, or two fields share a 16-bit word",
                               writable);
    return 0;
}

static int
read_role(const struct object *object, enum stream_role *role)
{
    const char *name;

    if (read_string(object, "role", 16, &name) != 0)
        return -EINVAL;
    if (strcmp(name, "load") != 0 && strcmp(name, "latency") != 0)
        return object_complain(object, "role", "must be load or latency");
    *role = strcmp(name, "load") == 0 ? ROLE_LOAD : ROLE_LATENCY;
    return 0;
}

static int
read_stream(const struct object *object, uint32_t port_count, uint32_t max_frame_bytes,
            struct stream_request *stream)
{
    static const char *const names[] = {"stream", "role",     "tx_port", "rx_port",
                                        "frame",  "rate_pps", "fields",  NULL};
    uint64_t number, tx_port, rx_port;

    if (object_knows(object, names) != 0 ||
        read_integer(object, "stream", REQUIRED, 0, UINT16_MAX, &number) != 0 ||
        read_role(object, &stream->role) != 0 ||
        read_integer(object, "tx_port", REQUIRED, 0, port_count - 1, &tx_port) != 0 ||
        read_integer(object, "rx_port", REQUIRED, 0, port_count - 1, &rx_port) != 0 ||
        /* A slower stream is a mistake, and its gap beyond the range of the pacer. */
        read_number(object, "rate_pps", REQUIRED, 0.01, 1e9, &stream->rate_pps) != 0 ||
        read_frame(object, max_frame_bytes, stream) != 0 || read_frame_fields(object, stream) != 0)
        return -EINVAL;
    stream->stream = (uint16_t)number;
    stream->tx_port = (uint16_t)tx_port;
    stream->rx_port = (uint16_t)rx_port;
    return 0;
}

static int
read_streams(const struct object *top, uint32_t port_count, uint32_t max_frame_bytes,
             struct trial_request *request)
{
    struct object element;
    const json_t *array;

    if (read_array(top, "streams", REQUIRED, 1, STREAMS_MAX, &array) != 0)
        return -EINVAL;
    request->stream_count = (uint32_t)json_array_size(array);
    for (uint32_t i = 0; i < request->stream_count; i++) {
        if (element_object(top, "streams", array, i, &element) != 0 ||
            read_stream(&element, port_count, max_frame_bytes, &request->streams[i]) != 0)
            return -EINVAL;
        for (uint32_t other = 0; other < i; other++) {
            if (request->streams[other].stream == request->streams[i].stream)
                return object_complain(&element, "stream", "number %u is used twice",
                                       request->streams[i].stream);
        }
    }
    return 0;
}

int
request_trial(const json_t *json, uint32_t port_count, uint32_t max_frame_bytes,
              struct trial_request *request, struct complaint *complaint)
{
    static const char *const names[] = {"id",      "request",    "mark",        "duration_s",
                                        "drain_s", "interval_s", "catch_up_us", "stall_us",
                                        "streams", NULL};
    const struct object top = object_top(json, complaint);
    uint64_t mark = 0;

    request->interval_s = 1;
    request->catch_up_us = 1000;
    request->stall_us = 20;
    if (object_knows(&top, names) != 0 ||
        read_integer(&top, "mark", REQUIRED, 1, UINT16_MAX - 1, &mark) != 0 ||
        read_number(&top, "duration_s", REQUIRED, 0.001, 604800, &request->duration_s) != 0 ||
        read_number(&top, "drain_s", REQUIRED, 0, 60, &request->drain_s) != 0 ||
        read_number(&top, "interval_s", OPTIONAL, 0.01, 60, &request->interval_s) != 0 ||
        read_number(&top, "catch_up_us", OPTIONAL, 10, 1e6, &request->catch_up_us) != 0 ||
        read_number(&top, "stall_us", OPTIONAL, 1, 1e6, &request->stall_us) != 0 ||
        read_streams(&top, port_count, max_frame_bytes, request) != 0)
        return -EINVAL;
    request->mark = (uint16_t)mark;
    return 0;
}
