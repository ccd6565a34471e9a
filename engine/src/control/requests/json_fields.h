/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked reading of one JSON object's fields.
 *
 * Every reader names the field it could not read. `object` keeps its path in the
 * request, so that the error reply says "streams[1].rate_pps" and not "bad request".
 * Readers return 0 or -EINVAL; an absent optional field leaves `value` as it was.
 */
#ifndef PLIMSOLL_JSON_FIELDS_H
#define PLIMSOLL_JSON_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/error.h"

enum presence { REQUIRED, OPTIONAL };

struct object {
    const json_t *json;
    char path[96];
    struct error *error;
};

/* An object at the top of a request: its fields' paths are their names. */
struct object object_top(const json_t *json, struct error *error);

/* Refuses fields that are not in the NULL-ended list. */
int object_knows(const struct object *object, const char *const *names);

int read_integer(const struct object *object, const char *name, enum presence presence,
                 uint64_t least, uint64_t most, uint64_t *value);
/* A number `least` <= value <= `most`. */
int read_number(const struct object *object, const char *name, enum presence presence, double least,
                double most, double *value);
int read_bool(const struct object *object, const char *name, enum presence presence, bool *value);
/* `value` points into the request and lives as long as it does. */
int read_string(const struct object *object, const char *name, enum presence presence,
                size_t longest, const char **value);
int read_object(const struct object *object, const char *name, struct object *value);
/* An array of `least` to `most` elements; an absent optional one gives NULL. */
int read_array(const struct object *object, const char *name, enum presence presence, size_t least,
               size_t most, const json_t **value);
/* Element `index` of an array that read_array() gave, which must be an object. */
int element_object(const struct object *parent, const char *name, const json_t *array, size_t index,
                   struct object *value);
/* Element `index`, which must be an integer from 0 to `most`. */
int element_integer(const struct object *parent, const char *name, const json_t *array,
                    size_t index, uint64_t most, uint64_t *value);

/* Complains of a field by name, for checks the readers above do not make. */
__attribute__((format(printf, 3, 4))) int
object_set_error(const struct object *object, const char *name, const char *format, ...);

#endif
