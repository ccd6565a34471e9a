/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/requests/request_parts.h"
#include "dataplane/frames/frame_fields.h"
#include "dataplane/frames/signature.h"

static int
read_kind(const struct object *object, enum field_kind *kind)
{
    const char *name = "increment";

    if (read_string(object, "kind", OPTIONAL, 16, &name) != 0)
        return -EINVAL;
    if (strcmp(name, "increment") == 0)
        *kind = FIELD_INCREMENT;
    else if (strcmp(name, "list") == 0)
        *kind = FIELD_LIST;
    else if (strcmp(name, "random") == 0)
        *kind = FIELD_RANDOM;
    else
        return object_set_error(object, "kind", "must be increment, list or random");
    return 0;
}

static int
read_fixes(const struct object *object, struct field *field)
{
    const json_t *array;
    uint64_t offset;

    if (read_array(object, "fixes", OPTIONAL, 0, FIELD_FIXES_MAX, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; array && i < json_array_size(array); i++) {
        if (element_integer(object, "fixes", array, i, FRAME_MAX_BYTES, &offset) != 0)
            return -EINVAL;
        field->fixes[field->fix_count++] = (uint16_t)offset;
    }
    return 0;
}

/* Two hexadecimal digits a byte, one run of ones. */
static int
read_mask(const struct object *object, struct field *field)
{
    const uint64_t all = UINT64_MAX >> (64 - 8 * field->width);
    const char *text = NULL;
    uint64_t run;

    field->mask = all;
    if (read_string(object, "mask", OPTIONAL, 16, &text) != 0)
        return -EINVAL;
    if (!text)
        return 0;
    if (strlen(text) != 2u * field->width || strspn(text, "0123456789abcdef") != strlen(text))
        return object_set_error(object, "mask", "must be %u hexadecimal digits (0-9a-f)",
                                2 * field->width);
    field->mask = strtoull(text, NULL, 16);
    run = field->mask == 0 ? 0 : field->mask >> __builtin_ctzll(field->mask);
    if (run == 0 || (run & (run + 1)) != 0)
        return object_set_error(object, "mask", "must have ones, and no zeros between them");
    return 0;
}

static int
read_values(const struct object *object, struct field *field)
{
    const json_t *array;
    uint64_t *values;
    int status = 0;

    if (field->kind != FIELD_LIST)
        return json_object_get(object->json, "values")
                   ? object_set_error(object, "values", "only a list has them")
                   : 0;
    if (read_array(object, "values", REQUIRED, field->count, field->count, &array) != 0)
        return -EINVAL;
    values = calloc(field->count, sizeof(values[0]));
    if (!values)
        return -ENOMEM;
    field->values = values;
    for (uint32_t i = 0; i < field->count && status == 0; i++)
        status = element_integer(object, "values", array, i, INT64_MAX, &values[i]);
    return status;
}

static int
read_numbers(const struct object *object, struct field *field)
{
    const uint64_t most = field->kind == FIELD_LIST ? FIELD_VALUES_MAX : 1 << 24;
    uint64_t offset, width, count, step = 1, every = 1, first = 0;

    if (read_integer(object, "offset", REQUIRED, 0, FRAME_MAX_BYTES, &offset) != 0 ||
        read_integer(object, "width", REQUIRED, 1, 8, &width) != 0 ||
        read_integer(object, "count", REQUIRED, 1, most, &count) != 0 ||
        read_integer(object, "every", OPTIONAL, 1, FIELD_COUNT_MAX, &every) != 0 ||
        read_integer(object, "first", OPTIONAL, 0, count * every - 1, &first) != 0 ||
        read_integer(object, "step", OPTIONAL, 1, UINT32_MAX, &step) != 0 ||
        read_integer(object, "seed", OPTIONAL, 0, INT64_MAX, &field->seed) != 0)
        return -EINVAL;
    field->offset = (uint16_t)offset;
    field->width = (uint16_t)width;
    field->count = (uint32_t)count;
    field->first = first;
    field->every = (uint32_t)every;
    field->step = (uint32_t)step;
    if (every > 1 && field->kind == FIELD_RANDOM)
        return object_set_error(object, "every",
                                "must be 1, as each random value is for one frame");
    return 0;
}

/* New values a frame, and how many there are until they come again. */
static int
read_churn(const struct object *object, struct field *field)
{
    const enum presence presence = json_object_get(object->json, "churn") ? REQUIRED : OPTIONAL;
    double churn = 0;
    uint64_t cycle = 0;

    if (read_number(object, "churn", OPTIONAL, 1 / (double)FIELD_CHURN_ONE, FIELD_CHURN_MAX,
                    &churn) != 0 ||
        read_integer(object, "cycle", presence, field->count, FIELD_COUNT_MAX, &cycle) != 0)
        return -EINVAL;
    if (churn != 0 && field->kind != FIELD_INCREMENT)
        return object_set_error(object, "churn", "only an increment has it");
    if (churn != 0 && field->every > 1)
        return object_set_error(object, "every", "must be 1 with churn");
    if (churn == 0 && cycle != 0)
        return object_set_error(object, "cycle", "goes with churn");
    field->churn = (uint64_t)(churn * (double)FIELD_CHURN_ONE);
    field->cycle = (uint32_t)cycle;
    return 0;
}

static int
read_field(const struct object *object, struct field *field)
{
    static const char *const names[] = {"offset", "width", "count", "step",  "kind",
                                        "values", "seed",  "first", "every", "mask",
                                        "fixes",  "churn", "cycle", NULL};

    if (object_knows(object, names) != 0 || read_kind(object, &field->kind) != 0 ||
        read_numbers(object, field) != 0 || read_mask(object, field) != 0 ||
        read_churn(object, field) != 0 || read_fixes(object, field) != 0)
        return -EINVAL;
    return read_values(object, field);
}

/* The fields must leave the signature's place alone, in each of the templates. */
static int
check_templates(const struct object *object, const struct stream_request *stream)
{
    struct frame_fields prepared;

    for (uint32_t i = 0; i < stream->template_count; i++) {
        const struct template_request *template = &stream->templates[i];
        const uint32_t writable = template->bytes - signature_bytes(stream->short_signature);

        if (frame_fields_prepare(&prepared, &stream->fields, template->frame, writable) != 0)
            return object_set_error(
                object, "fields",
                "a field or a checksum it fixes lies outside the first %u bytes of frame %u, or "
                "they do not share an alignment, or two fields share bits",
                writable, i);
    }
    return 0;
}

int
read_fields(const struct object *object, struct stream_request *stream)
{
    struct object element;
    const json_t *array;

    if (read_array(object, "fields", OPTIONAL, 0, FIELDS_MAX, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; array && i < json_array_size(array); i++) {
        int status = element_object(object, "fields", array, i, &element);

        stream->fields.count++;
        if (status == 0)
            status = read_field(&element, &stream->fields.field[i]);
        if (status != 0)
            return status;
    }
    return check_templates(object, stream);
}
