/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol's good and bad messages, and good ones that got damaged. */
#include <stdlib.h>

#include "request_reading.h"
#include "seeded_random.h"

static const char *vectors_folder;

/* The lines of a vector file, as an array. */
static json_t *
read_vectors(const char *name)
{
    json_t *lines = json_array();
    char path[1024], *line = NULL;
    size_t size = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.jsonl", vectors_folder, name);
    file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    while (getline(&line, &size, file) > 0)
        json_array_append_new(lines, parse(line));
    free(line);
    fclose(file);
    assert_true(json_array_size(lines) > 0);
    return lines;
}

static const char *const kinds[] = {"open", "resolve", "trial", "rates", "capture", "link", "stop"};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static json_t *
read_vectors_of(const char *goodness, const char *kind)
{
    char name[64];

    snprintf(name, sizeof(name), "%s-%s-request", goodness, kind);
    return read_vectors(name);
}

/*
 * Writes the path of the first place where `b` differs from `a`: the field or element,
 * or the array when the lengths differ. Returns whether there is one.
 */
static bool
first_difference(const json_t *a, const json_t *b, char *path, size_t size)
{
    const size_t used = strlen(path);
    const char *key;
    json_t *value;
    size_t i;

    if (json_equal(a, b))
        return false;
    if (json_is_object(a) && json_is_object(b)) {
        /* Iterators want it not const. */
        json_object_foreach ((json_t *)(uintptr_t)a, key, value) {
            snprintf(path + used, size - used, "%s%s", used ? "." : "", key);
            if (first_difference(value, json_object_get(b, key), path, size))
                return true;
        }
        json_object_foreach ((json_t *)(uintptr_t)b, key, value) {
            snprintf(path + used, size - used, "%s%s", used ? "." : "", key);
            if (!json_object_get(a, key))
                return true;
        }
    }
    if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
        json_array_foreach (a, i, value) {
            snprintf(path + used, size - used, "[%zu]", i);
            if (first_difference(value, json_array_get(b, i), path, size))
                return true;
        }
    }
    path[used] = '\0';
    return true;
}

static bool
starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void
good_vectors_are_accepted(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        json_t *good = read_vectors_of("good", kinds[kind]), *message;
        struct error error;
        size_t i;

        json_array_foreach (good, i, message) {
            if (read_request(message, &error) != 0)
                fail_msg("good %s %zu: %s: %s", kinds[kind], i + 1, error.where, error.message);
        }
        json_decref(good);
    }
}

static uint32_t
fields_unlike(const json_t *a, const json_t *b)
{
    uint32_t unlike = 0;
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)a, key, value)
        unlike += !json_equal(value, json_object_get(b, key));
    json_object_foreach ((json_t *)(uintptr_t)b, key, value)
        unlike += !json_object_get(a, key);
    return unlike;
}

/* The good message that a bad one was made from. */
static const json_t *
closest(const json_t *good, const json_t *message)
{
    const json_t *found = json_array_get(good, 0);
    json_t *other;
    size_t i;

    json_array_foreach (good, i, other) {
        if (fields_unlike(other, message) < fields_unlike(found, message))
            found = other;
    }
    return found;
}

/* Each bad vector is a good one with one thing wrong: `where` has to name that. */
static void
assert_blames(const json_t *good, const json_t *vector)
{
    const json_t *message = json_object_get(vector, "message");
    const char *why = json_string_value(json_object_get(vector, "why"));
    struct error error;
    char wrong[256] = "";

    if (read_request(message, &error) != -EINVAL)
        fail_msg("accepted: %s", why);
    assert_true(first_difference(closest(good, message), message, wrong, sizeof(wrong)));
    if (!starts_with(wrong, error.where) && !starts_with(error.where, wrong))
        fail_msg("%s: wrong is %s, blamed is %s", why, wrong, error.where);
    /* Only what is not an object at all has no field to name. */
    if ((error.where[0] == '\0') != !json_is_object(message))
        fail_msg("%s: where is '%s'", why, error.where);
    assert_true(strlen(error.message) > 0);
}

static void
bad_vectors_are_refused_by_name(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        json_t *good = read_vectors_of("good", kinds[kind]);
        json_t *bad = read_vectors_of("bad", kinds[kind]), *vector;
        size_t i;

        json_array_foreach (bad, i, vector)
            assert_blames(good, vector);
        json_decref(good);
        json_decref(bad);
    }
}

/* A few bytes of a good request overwritten, cut out or repeated. */
static char *
mutate(const char *text, uint64_t *state)
{
    static const char alphabet[] = "{}[]\",:0123456789.-eE \\abcdefnulrtsu\x01\x7f\xc3\xa9\xff";
    const size_t length = strlen(text);
    char *mutant = malloc(2 * length + 1);

    assert_non_null(mutant);
    strcpy(mutant, text);
    for (uint64_t edits = 1 + random_below(state, 3); edits > 0; edits--) {
        const size_t now = strlen(mutant), at = random_below(state, now);
        const size_t run = 1 + random_below(state, now - at < 8 ? now - at : 8);

        if (random_below(state, 3) == 0)
            memmove(mutant + at, mutant + at + run, now - at - run + 1);
        else if (random_below(state, 2) == 0 && now + run < 2 * length)
            memmove(mutant + at + run, mutant + at, now - at + 1);
        else
            mutant[at] = alphabet[random_below(state, sizeof(alphabet) - 1)];
    }
    return mutant;
}

/* What is refused is refused with a reason that can be sent; a sanitizer sees the rest. */
static void
damaged_requests_are_refused_or_read_never_worse(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        json_t *good = read_vectors_of("good", kinds[kind]);
        char *text = json_dumps(json_array_get(good, 0), JSON_COMPACT);
        uint32_t refused = 0;

        for (uint32_t i = 0; i < 20000; i++) {
            char *mutant = mutate(text, &seed);
            json_t *json = json_loads(mutant, JSON_REJECT_DUPLICATES, NULL);
            struct error error;

            if (json && read_request(json, &error) != 0) {
                json_t *reply =
                    json_pack("{s:s, s:s}", "where", error.where, "message", error.message);
                assert_non_null(reply);
                assert_true(strlen(error.message) > 0);
                json_decref(reply);
                refused++;
            }
            json_decref(json);
            free(mutant);
        }
        assert_true(refused > 500);
        free(text);
        json_decref(good);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_vectors_are_accepted),
        cmocka_unit_test(bad_vectors_are_refused_by_name),
        cmocka_unit_test(damaged_requests_are_refused_or_read_never_worse),
    };

    if (argc != 2) {
        fprintf(stderr, "usage: %s <folder of the protocol's vectors>\n", argv[0]);
        return 2;
    }
    vectors_folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
