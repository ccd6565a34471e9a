/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/requests/request_parts.h"
#include "dataplane/frames/signature.h"

static int
hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return -1;
}

/* Returns the number of the first byte that is not two digits, or -1. */
static int64_t
decode(const char *text, size_t bytes, uint8_t *frame)
{
    for (size_t i = 0; i < bytes; i++) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return (int64_t)i;
        frame[i] = (uint8_t)(high << 4 | low);
    }
    return -1;
}

/* Checksums that cover the signature hold only if it was zero when they were computed. */
static bool
ends_with_room(const struct template_request *template, uint32_t bytes)
{
    static const uint8_t room[SIGNATURE_BYTES];

    return memcmp(template->frame + template->bytes - bytes, room, bytes) == 0;
}

static int
read_template(const struct object *object, const json_t *json, uint32_t number,
              uint32_t max_frame_bytes, uint32_t room_bytes, struct template_request *template)
{
    const char *text = json_string_value(json);
    const size_t digits = json_string_length(json);
    int64_t wrong;

    if (!text || digits % 2 != 0 || digits < 2 * FRAME_MIN_BYTES || digits > 2u * max_frame_bytes)
        return object_set_error(object, "frames", "number %u must be %d to %u bytes in hexadecimal",
                                number, FRAME_MIN_BYTES, max_frame_bytes);
    template->bytes = (uint32_t)(digits / 2);
    template->frame = malloc(template->bytes);
    if (!template->frame)
        return -ENOMEM;
    wrong = decode(text, template->bytes, template->frame);
    if (wrong >= 0)
        return object_set_error(object, "frames",
                                "number %u is not hexadecimal (0-9a-f) at byte %u", number,
                                (unsigned)wrong);
    if (!ends_with_room(template, room_bytes))
        return object_set_error(object, "frames",
                                "number %u must end with %u zero bytes, the signature's place",
                                number, room_bytes);
    return 0;
}

static int
read_order(const struct object *object, struct stream_request *stream)
{
    const json_t *array;
    uint64_t number;

    if (read_array(object, "order", OPTIONAL, 1, ORDER_MAX, &array) != 0)
        return -EINVAL;
    if (!array)
        return 0;
    stream->order_count = (uint32_t)json_array_size(array);
    stream->order = calloc(stream->order_count, sizeof(stream->order[0]));
    if (!stream->order)
        return -ENOMEM;
    for (uint32_t i = 0; i < stream->order_count; i++) {
        if (element_integer(object, "order", array, i, stream->template_count - 1, &number) != 0)
            return -EINVAL;
        stream->order[i] = (uint16_t)number;
    }
    return 0;
}

int
read_templates(const struct object *object, uint32_t max_frame_bytes, struct stream_request *stream)
{
    const json_t *array;

    if (read_array(object, "frames", REQUIRED, 1, TEMPLATES_MAX, &array) != 0)
        return -EINVAL;
    const uint32_t count = (uint32_t)json_array_size(array);
    stream->templates = calloc(count, sizeof(stream->templates[0]));
    if (!stream->templates)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const int status =
            read_template(object, json_array_get(array, i), i, max_frame_bytes,
                          signature_bytes(stream->short_signature), &stream->templates[i]);

        stream->template_count++;
        if (status != 0)
            return status;
    }
    return read_order(object, stream);
}
