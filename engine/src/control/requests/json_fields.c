/* SPDX-License-Identifier: Apache-2.0 */
#include "control/requests/json_fields.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/*
 * Removes the character that a buffer's end has cut in two, if it did: the error goes
 * out as JSON, which is UTF-8 throughout. `text` was valid before it was cut.
 */
static void
drop_cut_character(char *text)
{
    const size_t length = strlen(text);
    size_t tail = 0; /* bytes after the last character's first */

    while (tail < length && ((unsigned char)text[length - 1 - tail] & 0xc0) == 0x80)
        tail++;
    if (tail == length)
        return;
    const unsigned char first = (unsigned char)text[length - 1 - tail];
    const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

    if (tail + 1 < bytes)
        text[length - 1 - tail] = '\0';
}

int
object_set_error(const struct object *object, const char *name, const char *format, ...)
{
    struct error *error = object->error;
    va_list arguments;

    snprintf(error->where, sizeof(error->where), "%s%s%s", object->path,
             object->path[0] && name[0] ? "." : "", name);
    drop_cut_character(error->where);
    va_start(arguments, format);
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    return -EINVAL;
}

struct object
object_top(const json_t *json, struct error *error)
{
    return (struct object){.json = json, .path = "", .error = error};
}

int
object_knows(const struct object *object, const char *const *names)
{
    void *position = json_object_iter((json_t *)object->json);

    for (; position; position = json_object_iter_next((json_t *)object->json, position)) {
        const char *key = json_object_iter_key(position);
        const char *const *known = names;

        while (*known && strcmp(*known, key) != 0)
            known++;
        if (!*known)
            return object_set_error(object, key[0] ? key : "\"\"", "unknown field");
    }
    return 0;
}

/* Finds a field; `*found` stays NULL when an optional one is absent. */
static int
find(const struct object *object, const char *name, enum presence presence, const json_t **found)
{
    *found = json_object_get(object->json, name);
    if (!*found && presence == REQUIRED)
        return object_set_error(object, name, "missing");
    return 0;
}

int
read_integer(const struct object *object, const char *name, enum presence presence, uint64_t least,
             uint64_t most, uint64_t *value)
{
    const json_t *json;
    int status = find(object, name, presence, &json);

    if (status != 0 || !json)
        return status;
    if (!json_is_integer(json) || json_integer_value(json) < 0 ||
        (uint64_t)json_integer_value(json) < least || (uint64_t)json_integer_value(json) > most)
        return object_set_error(object, name, "must be an integer from %llu to %llu",
                                (unsigned long long)least, (unsigned long long)most);
    *value = (uint64_t)json_integer_value(json);
    return 0;
}

int
read_number(const struct object *object, const char *name, enum presence presence, double least,
            double most, double *value)
{
    const json_t *json;
    int status = find(object, name, presence, &json);

    if (status != 0 || !json)
        return status;
    const double number = json_number_value(json);
    if (!json_is_number(json) || !isfinite(number) || number < least || number > most)
        return object_set_error(object, name, "must be a number from %g to %g", least, most);
    *value = number;
    return 0;
}

int
read_bool(const struct object *object, const char *name, enum presence presence, bool *value)
{
    const json_t *json;
    int status = find(object, name, presence, &json);

    if (status != 0 || !json)
        return status;
    if (!json_is_boolean(json))
        return object_set_error(object, name, "must be true or false");
    *value = json_is_true(json);
    return 0;
}

int
read_string(const struct object *object, const char *name, enum presence presence, size_t longest,
            const char **value)
{
    const json_t *json;
    int status = find(object, name, presence, &json);

    if (status != 0 || !json)
        return status;
    if (!json_is_string(json) || json_string_length(json) == 0 ||
        json_string_length(json) > longest ||
        strlen(json_string_value(json)) != json_string_length(json))
        return object_set_error(object, name, "must be a string of 1 to %zu characters", longest);
    *value = json_string_value(json);
    return 0;
}

int
read_object(const struct object *object, const char *name, struct object *value)
{
    const json_t *json;
    int status = find(object, name, REQUIRED, &json);

    if (status != 0)
        return status;
    if (!json_is_object(json))
        return object_set_error(object, name, "must be an object");
    value->json = json;
    value->error = object->error;
    snprintf(value->path, sizeof(value->path), "%.60s%s%.30s", object->path,
             object->path[0] ? "." : "", name);
    return 0;
}

int
read_array(const struct object *object, const char *name, enum presence presence, size_t least,
           size_t most, const json_t **value)
{
    int status = find(object, name, presence, value);

    if (status != 0 || !*value)
        return status;
    if (!json_is_array(*value) || json_array_size(*value) < least || json_array_size(*value) > most)
        return object_set_error(object, name, "must be an array of %zu to %zu elements", least,
                                most);
    return 0;
}

int
element_object(const struct object *parent, const char *name, const json_t *array, size_t index,
               struct object *value)
{
    value->json = json_array_get(array, index);
    value->error = parent->error;
    snprintf(value->path, sizeof(value->path), "%.40s%s%.30s[%u]", parent->path,
             parent->path[0] ? "." : "", name, (unsigned)index);
    if (!json_is_object(value->json))
        return object_set_error(value, "", "must be an object");
    return 0;
}

int
element_integer(const struct object *parent, const char *name, const json_t *array, size_t index,
                uint64_t most, uint64_t *value)
{
    const json_t *json = json_array_get(array, index);
    char element[48];

    if (!json_is_integer(json) || json_integer_value(json) < 0 ||
        (uint64_t)json_integer_value(json) > most) {
        snprintf(element, sizeof(element), "%.30s[%zu]", name, index);
        return object_set_error(parent, element, "must be an integer from 0 to %llu",
                                (unsigned long long)most);
    }
    *value = (uint64_t)json_integer_value(json);
    return 0;
}
