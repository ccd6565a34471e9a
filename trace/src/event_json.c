/* SPDX-License-Identifier: Apache-2.0 */
#include "event_json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "json_text.h"

/* Bytes inside a record. */
struct span {
    const char *at;
    size_t bytes;
};

/* Where a field's content lies: itself, or for a dynamic one what it points at. */
static bool
locate(const struct tep_format_field *field, const struct event_record *record, struct span *span)
{
    size_t offset = (size_t)field->offset, bytes = (size_t)field->size;

    if (field->offset < 0 || field->size < 0 || offset + bytes > record->bytes)
        return false;
    if (field->flags & TEP_FIELD_IS_DYNAMIC) {
        uint32_t location;

        if (bytes != sizeof(location))
            return false;
        memcpy(&location, (const char *)record->data + offset, sizeof(location));
        /* __rel_loc counts from behind itself, __data_loc from the record's begin. */
        const bool relative = field->flags & TEP_FIELD_IS_RELATIVE;

        offset = (location & 0xffff) + (relative ? offset + bytes : 0);
        bytes = location >> 16;
    }
    *span = (struct span){(const char *)record->data + offset, bytes};
    return offset + bytes <= record->bytes;
}

static uint64_t
read_unsigned(const struct span *span)
{
    uint64_t number = 0;

    /* The ring buffer is this machine's, and the machine little-endian (x86-64, arm64). */
    memcpy(&number, span->at, span->bytes);
    return number;
}

static int64_t
read_signed(const struct span *span)
{
    const unsigned int unused_bits = 64 - 8 * (unsigned int)span->bytes;

    return (int64_t)(read_unsigned(span) << unused_bits) >> unused_bits;
}

static bool
is_number(const struct tep_format_field *field)
{
    return !(field->flags & TEP_FIELD_IS_ARRAY) &&
           (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8);
}

/* The fields of the events we enable that hold the address of a function. */
static bool
is_function(const struct tep_format_field *field)
{
    static const char *const names[] = {"function", "callsite", "callback", "handler"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(field->name, names[i]) == 0)
            return field->size == sizeof(uint64_t);
    }
    return false;
}

static void
write_address(FILE *out, struct event_formats *formats, uint64_t address, bool function)
{
    const char *name = function ? symbols_function(formats->symbols, address) : NULL;

    if (name)
        json_text_write(out, name, strlen(name));
    else
        fprintf(out, "\"0x%" PRIx64 "\"", address);
}

static void
write_cpus(FILE *out, const struct span *mask)
{
    const char *separator = "";

    fputc('"', out);
    for (size_t cpu = 0; cpu < 8 * mask->bytes; cpu++) {
        if (mask->at[cpu / 8] & 1 << cpu % 8) {
            fprintf(out, "%s%zu", separator, cpu);
            separator = ",";
        }
    }
    fputc('"', out);
}

static bool
is_cpu_mask(const struct tep_format_field *field)
{
    return field->flags & TEP_FIELD_IS_DYNAMIC && strstr(field->type, "cpumask");
}

static void
write_number(FILE *out, struct event_formats *formats, const struct tep_format_field *field,
             const struct span *span)
{
    if (field->flags & TEP_FIELD_IS_POINTER || is_function(field))
        write_address(out, formats, read_unsigned(span), is_function(field));
    else if (field->flags & TEP_FIELD_IS_SIGNED)
        fprintf(out, "%" PRId64, read_signed(span));
    else
        fprintf(out, "%" PRIu64, read_unsigned(span));
}

/* Writes `"name": value` behind `separator`; false when the field is of no kind that we write. */
static bool
write_field(FILE *out, struct event_formats *formats, const struct tep_format_field *field,
            const struct event_record *record, const char *separator)
{
    const bool text = field->flags & TEP_FIELD_IS_STRING;
    struct span span;

    if (!(text || is_cpu_mask(field) || is_number(field)) || !locate(field, record, &span))
        return false;
    fputs(separator, out);
    json_text_write(out, field->name, strlen(field->name));
    fputs(": ", out);
    if (text)
        json_text_write(out, span.at, span.bytes);
    else if (is_cpu_mask(field))
        write_cpus(out, &span);
    else
        write_number(out, formats, field, &span);
    return true;
}

void
event_json_write(FILE *out, struct event_formats *formats, struct tep_event *event,
                 const struct event_record *record)
{
    const char *separator = "";

    fprintf(out, "{\"tsc\": %" PRIu64 ", \"cpu\": %d, \"name\": ", record->time, record->cpu);
    json_text_write(out, event->name, strlen(event->name));
    fputs(", \"fields\": {", out);
    for (struct tep_format_field *field = event->format.common_fields; field; field = field->next) {
        /* Who ran when the event happened; the other common fields say nothing of use here. */
        if (strcmp(field->name, "common_pid") == 0 &&
            write_field(out, formats, field, record, separator))
            separator = ", ";
    }
    for (struct tep_format_field *field = event->format.fields; field; field = field->next) {
        if (write_field(out, formats, field, record, separator))
            separator = ", ";
    }
    fputs("}}\n", out);
}
