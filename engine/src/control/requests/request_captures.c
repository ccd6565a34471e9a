/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of received frames: those of a trial, and their switches while it runs. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "control/requests/request_parts.h"

/* The place of the capture of that port; `capture_count` where there is none. */
static uint32_t
place_of(const struct trial_request *trial, uint64_t port)
{
    uint32_t place = 0;

    while (place < trial->capture_count && trial->captures[place].port != port)
        place++;
    return place;
}

/* An absent optional one is empty. */
static int
read_path(const struct object *object, enum presence presence, char *path)
{
    const char *text = NULL;

    if (read_string(object, "path", presence, CAPTURE_PATH_MAX, &text) != 0)
        return -EINVAL;
    if (!text)
        return 0;
    if (text[0] != '/')
        return object_set_error(object, "path", "must begin with /");
    strcpy(path, text);
    return 0;
}

static int
read_capture(const struct object *object, const struct open_request *config,
             const struct trial_request *trial, struct capture_request *capture)
{
    static const char *const names[] = {"port", "path", "snap_bytes", "most_frames", "on", NULL};
    uint64_t port = 0, snap_bytes = RECEIVED_MAX_BYTES;

    capture->on = true;
    if (object_knows(object, names) != 0 ||
        read_integer(object, "port", REQUIRED, 0, config->port_count - 1, &port) != 0 ||
        read_integer(object, "snap_bytes", OPTIONAL, 1, RECEIVED_MAX_BYTES, &snap_bytes) != 0 ||
        read_integer(object, "most_frames", REQUIRED, 1, CAPTURE_FRAMES_MAX,
                     &capture->most_frames) != 0 ||
        read_bool(object, "on", OPTIONAL, &capture->on) != 0 ||
        read_path(object, REQUIRED, capture->path) != 0)
        return -EINVAL;
    if (place_of(trial, port) < trial->capture_count)
        return object_set_error(object, "port", "port %" PRIu64 " is captured twice", port);
    capture->port = (uint16_t)port;
    capture->snap_bytes = (uint32_t)snap_bytes;
    return 0;
}

int
read_captures(const struct object *top, const struct open_request *config,
              struct trial_request *request)
{
    struct object element;
    const json_t *array;

    if (read_array(top, "captures", OPTIONAL, 0, config->port_count, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (element_object(top, "captures", array, i, &element) != 0 ||
            read_capture(&element, config, request, &request->captures[i]) != 0)
            return -EINVAL;
        request->capture_count++;
    }
    return 0;
}

int
request_capture(const json_t *json, const struct trial_request *trial,
                struct capture_switch *change, struct error *error)
{
    static const char *const names[] = {"id", "request", "port", "on", "path", NULL};
    const struct object top = object_top(json, error);
    uint64_t port = 0;

    if (object_knows(&top, names) != 0 ||
        read_integer(&top, "port", REQUIRED, 0, PORTS_MAX - 1, &port) != 0 ||
        read_bool(&top, "on", REQUIRED, &change->on) != 0 ||
        read_path(&top, OPTIONAL, change->path) != 0)
        return -EINVAL;
    change->capture = place_of(trial, port);
    if (change->capture == trial->capture_count)
        return object_set_error(&top, "port", "port %" PRIu64 " is not captured", port);
    return 0;
}
