/* SPDX-License-Identifier: Apache-2.0 */
#include "behaviour.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const action_names[ACTIONS] = {
    [ACTION_DROP] = "drop",       [ACTION_DUPLICATE] = "duplicate",
    [ACTION_CORRUPT] = "corrupt", [ACTION_REORDER] = "reorder",
    [ACTION_STALE] = "stale",     [ACTION_MISDIRECT] = "misdirect",
    [ACTION_INJECT] = "inject",
};

struct reader {
    uint16_t port_count;
    char *why;
    size_t why_size;
};

static int
refuse(const struct reader *reader, const char *why)
{
    snprintf(reader->why, reader->why_size, "%s", why);
    return -EINVAL;
}

static int
read_hex(const struct reader *reader, const char *text, struct bytes *bytes)
{
    const size_t length = strlen(text);

    if (length % 2 != 0 || length / 2 > sizeof(bytes->byte))
        return refuse(reader, "bytes are up to 1518 pairs of hexadecimal digits");
    for (size_t i = 0; i < length / 2; i++) {
        const char pair[3] = {text[2 * i], text[2 * i + 1]};
        char *end;

        bytes->byte[i] = (uint8_t)strtoul(pair, &end, 16);
        if (*end != '\0')
            return refuse(reader, "what is not hexadecimal is not bytes");
    }
    bytes->count = (uint16_t)(length / 2);
    return 0;
}

/* Numbers below 2^32, as many as the array holds. */
static int
read_numbers(const struct reader *reader, const json_t *json, uint32_t *numbers, uint32_t most,
             uint32_t *count)
{
    const json_t *value;
    size_t i;

    if (!json_is_array(json) || json_array_size(json) > most)
        return refuse(reader, "a list is too long, or none");
    json_array_foreach (json, i, value) {
        if (!json_is_integer(value) || json_integer_value(value) < 0 ||
            json_integer_value(value) > UINT32_MAX)
            return refuse(reader, "a list holds what is not a number");
        numbers[i] = (uint32_t)json_integer_value(value);
    }
    *count = (uint32_t)json_array_size(json);
    return 0;
}

static int
find_action(const struct reader *reader, const char *name, enum action *action)
{
    for (uint32_t i = 0; i < ACTIONS; i++) {
        if (strcmp(name, action_names[i]) == 0) {
            *action = (enum action)i;
            return 0;
        }
    }
    return refuse(reader, "there is no such wrong");
}

static int
ascending(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static int
read_wrong(const struct reader *reader, json_t *json, struct wrong *wrong)
{
    const char *action = "", *frame = "";
    json_t *listed = NULL;
    json_error_t error;

    *wrong = (struct wrong){.stream = ANY_STREAM, .copies = 1, .flip = 1, .by = 1, .mark = 1};
    if (json_unpack_ex(json, &error, JSON_STRICT,
                       "{s:s, s?i, s?i, s?o, s?i, s?i, s?i, s?i, s?i, s?s}", "do", &action,
                       "stream", &wrong->stream, "every", &wrong->every, "frames", &listed,
                       "copies", &wrong->copies, "byte", &wrong->byte, "flip", &wrong->flip, "by",
                       &wrong->by, "mark", &wrong->mark, "frame", &frame) != 0)
        return refuse(reader, error.text);
    if ((wrong->every == 0) == (listed == NULL))
        return refuse(reader, "a wrong has either `every` or `frames`");
    int status = find_action(reader, action, &wrong->action);
    if (status == 0)
        status = read_hex(reader, frame, &wrong->frame);
    if (status == 0 && listed)
        status = read_numbers(reader, listed, wrong->listed, LISTED_MAX, &wrong->listed_count);
    if (status == 0)
        qsort(wrong->listed, wrong->listed_count, sizeof(wrong->listed[0]), ascending);
    return status;
}

/* Puts the rewrite's kind and operand in place. */
static int
read_rewrite_kind(const struct reader *reader, const char *insert, const char *write,
                  struct rewrite *rewrite)
{
    if ((rewrite->remove > 0) + (*insert != '\0') + (*write != '\0') != 1)
        return refuse(reader, "a rewrite has one of `remove`, `insert` and `write`");
    if (rewrite->remove > 0) {
        rewrite->kind = REWRITE_REMOVE;
        return 0;
    }
    rewrite->kind = *insert ? REWRITE_INSERT : REWRITE_WRITE;
    const int status = read_hex(reader, *insert ? insert : write, &rewrite->bytes);
    if (status == 0 && rewrite->kind == REWRITE_WRITE &&
        (rewrite->at % 2 != 0 || rewrite->bytes.count % 2 != 0))
        return refuse(reader, "`write` takes whole 16-bit words");
    return status;
}

static int
read_rewrite(const struct reader *reader, json_t *json, struct rewrite *rewrite)
{
    const char *insert = "", *write = "";
    json_t *fixes = NULL;
    json_error_t error;

    *rewrite = (struct rewrite){0};
    if (json_unpack_ex(json, &error, JSON_STRICT, "{s:i, s?i, s?s, s?s, s?o}", "at", &rewrite->at,
                       "remove", &rewrite->remove, "insert", &insert, "write", &write, "fixes",
                       &fixes) != 0)
        return refuse(reader, error.text);
    const int status = read_rewrite_kind(reader, insert, write, rewrite);
    if (status != 0 || !fixes)
        return status;
    return read_numbers(reader, fixes, rewrite->fixes, FIXES_MAX, &rewrite->fix_count);
}

static int
read_wrongs(const struct reader *reader, const json_t *json, struct path_behaviour *path)
{
    json_t *wrong;
    size_t i;

    if (json_array_size(json) > WRONGS_MAX)
        return refuse(reader, "too many wrongs");
    json_array_foreach (json, i, wrong) {
        const int status = read_wrong(reader, wrong, &path->wrongs[path->wrong_count++]);

        if (status != 0)
            return status;
    }
    return 0;
}

static int
read_rewrites(const struct reader *reader, const json_t *json, struct path_behaviour *path)
{
    json_t *rewrite;
    size_t i;

    if (json_array_size(json) > REWRITES_MAX)
        return refuse(reader, "too many rewrites");
    json_array_foreach (json, i, rewrite) {
        const int status = read_rewrite(reader, rewrite, &path->rewrites[path->rewrite_count++]);

        if (status != 0)
            return status;
    }
    return 0;
}

static int
read_path(const struct reader *reader, json_t *json, struct path_behaviour *path)
{
    json_int_t least = 0, most = 0, late = -1;
    int from, to, keep_order = true, padding = 0;
    json_t *wrongs = NULL, *rewrites = NULL;
    json_error_t error;

    memset(path, 0, sizeof(*path));
    if (json_unpack_ex(json, &error, JSON_STRICT, "{s:i, s:i, s?[I,I!], s?b, s?i, s?I, s?o, s?o}",
                       "from", &from, "to", &to, "hold_ns", &least, &most, "keep_order",
                       &keep_order, "padding", &padding, "withhold_late_ns", &late, "wrongs",
                       &wrongs, "rewrites", &rewrites) != 0)
        return refuse(reader, error.text);
    if (from < 0 || from >= reader->port_count || to < 0 || to >= reader->port_count)
        return refuse(reader, "a path's port was not opened");
    if (least < 0 || most < least)
        return refuse(reader, "hold_ns is the least, then the most");
    path->from = (uint16_t)from;
    path->to = (uint16_t)to;
    path->least_hold_ns = (uint64_t)least;
    path->most_hold_ns = (uint64_t)most;
    path->withhold_late_ns = late < 0 ? UINT64_MAX : (uint64_t)late;
    path->keep_order = keep_order;
    path->padding = (uint8_t)padding;
    const int status = read_wrongs(reader, wrongs, path);
    return status == 0 ? read_rewrites(reader, rewrites, path) : status;
}

int
behaviour_read(struct behaviour *behaviour, const json_t *json, uint16_t port_count, char *why,
               size_t why_size)
{
    const struct reader reader = {port_count, why, why_size};
    json_int_t seed = 1;
    json_error_t error;
    json_t *paths, *path;
    size_t i;

    if (json_unpack_ex((json_t *)json, &error, JSON_STRICT, "{s?I, s:o}", "seed", &seed, "paths",
                       &paths) != 0)
        return refuse(&reader, error.text);
    if (!json_is_array(paths) || json_array_size(paths) > PATHS_MAX)
        return refuse(&reader, "paths are a list of up to 4");
    behaviour->seed = (uint64_t)seed;
    behaviour->path_count = 0;
    json_array_foreach (paths, i, path) {
        const int status = read_path(&reader, path, &behaviour->paths[behaviour->path_count++]);

        if (status != 0)
            return status;
    }
    return 0;
}
