/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "seeded_random.h"
#include "unit_test.h"

/* What the vectors are made for: two open ports, and frames of any size. */
#define PORT_COUNT 2
#define MAX_FRAME_BYTES FRAME_MAX_BYTES

static const char *vectors_folder;

/* Large enough that the stack is no place for them; cleared before each reading. */
static struct open_request open_request;
static struct trial_request trial_request;

static json_t *
parse(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

    if (!json)
        fail_msg("%s in %s", error.text, text);
    return json;
}

/* Reads any request as the session does. */
static int
read_request(const json_t *json, struct complaint *complaint)
{
    enum request_kind kind;
    int64_t id;

    memset(complaint, 0, sizeof(*complaint));
    memset(&open_request, 0, sizeof(open_request));
    memset(&trial_request, 0, sizeof(trial_request));
    if (request_head(json, &id, &kind, complaint) != 0)
        return -EINVAL;
    if (kind == REQUEST_OPEN)
        return request_open(json, &open_request, complaint);
    if (kind == REQUEST_TRIAL)
        return request_trial(json, PORT_COUNT, MAX_FRAME_BYTES, &trial_request, complaint);
    return request_stop(json, complaint);
}

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

static const char *const kinds[] = {"open", "trial", "stop"};

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
    for (uint32_t kind = 0; kind < 3; kind++) {
        json_t *good = read_vectors_of("good", kinds[kind]), *message;
        struct complaint complaint;
        size_t i;

        json_array_foreach (good, i, message) {
            if (read_request(message, &complaint) != 0)
                fail_msg("good %s %zu: %s: %s", kinds[kind], i + 1, complaint.where,
                         complaint.message);
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
    struct complaint complaint;
    char wrong[256] = "";

    if (read_request(message, &complaint) != -EINVAL)
        fail_msg("accepted: %s", why);
    assert_true(first_difference(closest(good, message), message, wrong, sizeof(wrong)));
    if (!starts_with(wrong, complaint.where) && !starts_with(complaint.where, wrong))
        fail_msg("%s: wrong is %s, blamed is %s", why, wrong, complaint.where);
    /* Only what is not an object at all has no field to name. */
    if ((complaint.where[0] == '\0') != !json_is_object(message))
        fail_msg("%s: where is '%s'", why, complaint.where);
    assert_true(strlen(complaint.message) > 0);
}

static void
bad_vectors_are_refused_by_name(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 3; kind++) {
        json_t *good = read_vectors_of("good", kinds[kind]);
        json_t *bad = read_vectors_of("bad", kinds[kind]), *vector;
        size_t i;

        json_array_foreach (bad, i, vector)
            assert_blames(good, vector);
        json_decref(good);
        json_decref(bad);
    }
}

static void
assert_refused(const char *text, const char *where, const char *message)
{
    json_t *json = parse(text);
    struct complaint complaint;

    assert_int_equal(read_request(json, &complaint), -EINVAL);
    assert_string_equal(complaint.where, where);
    assert_string_equal(complaint.message, message);
    json_decref(json);
}

#define OPEN "{\"id\":1,\"request\":\"open\",\"memory\":{\"huge\":false,\"megabytes\":64},"
#define PORTS "\"ports\":[{\"devargs\":\"net_null0\"},{\"devargs\":\"net_null1\"}],"
#define CPUS "\"main_cpus\":[0],"

static void
an_open_request_is_read_with_its_defaults(void **state)
{
    struct complaint complaint;
    json_t *json = parse(OPEN PORTS "\"main_cpus\":[3,1],\"workers\":["
                                    "{\"cpu\":5,\"tx_ports\":[0,1],\"rx_ports\":[]},"
                                    "{\"cpu\":6,\"tx_ports\":[],\"rx_ports\":[1,0]}]}");

    (void)state;
    assert_int_equal(read_request(json, &complaint), 0);
    assert_false(open_request.huge);
    assert_int_equal(open_request.memory_megabytes, 64);
    assert_int_equal(open_request.main_cpu_count, 2);
    assert_int_equal(open_request.main_cpus[0], 3);
    assert_int_equal(open_request.main_cpus[1], 1);
    assert_int_equal(open_request.worker_count, 2);
    assert_int_equal(open_request.workers[0].cpu, 5);
    assert_int_equal(open_request.workers[0].tx_ports, 3);
    assert_int_equal(open_request.workers[0].rx_ports, 0);
    assert_int_equal(open_request.workers[1].cpu, 6);
    assert_int_equal(open_request.workers[1].tx_ports, 0);
    assert_int_equal(open_request.workers[1].rx_ports, 3);
    assert_int_equal(open_request.port_count, 2);
    assert_string_equal(open_request.ports[1].devargs, "net_null1");
    assert_int_equal(open_request.ports[1].descriptors, 1024);
    assert_true(open_request.link_wait_s == 10);
    assert_int_equal(open_request.max_frame_bytes, 1518);
    json_decref(json);
}

static void
each_port_needs_one_sender_and_one_receiver(void **state)
{
    (void)state;
    assert_refused(OPEN CPUS PORTS "\"workers\":[{\"cpu\":1,\"tx_ports\":[0,1],\"rx_ports\":[0]}]}",
                   "workers", "every port needs a worker to send and to receive");
    assert_refused(OPEN CPUS PORTS "\"workers\":[{\"cpu\":1,\"tx_ports\":[1],\"rx_ports\":[0,1]}]}",
                   "workers", "every port needs a worker to send and to receive");
    assert_refused(OPEN CPUS PORTS "\"workers\":[{\"cpu\":1,\"tx_ports\":[0,1],\"rx_ports\":[0,1]},"
                                   "{\"cpu\":2,\"tx_ports\":[],\"rx_ports\":[1]}]}",
                   "workers[1].rx_ports", "port 1 is polled twice");
    assert_refused(OPEN CPUS PORTS
                   "\"workers\":[{\"cpu\":1,\"tx_ports\":[0,0,1],\"rx_ports\":[0,1]}]}",
                   "workers[0].tx_ports", "port 0 is polled twice");
    assert_refused(OPEN CPUS PORTS
                   "\"workers\":[{\"cpu\":1,\"tx_ports\":[0,2],\"rx_ports\":[0,1]}]}",
                   "workers[0].tx_ports[1]", "must be an integer from 0 to 1");
}

static void
a_cpu_has_one_worker(void **state)
{
    (void)state;
    assert_refused(OPEN CPUS PORTS "\"workers\":[{\"cpu\":1,\"tx_ports\":[0],\"rx_ports\":[0]},"
                                   "{\"cpu\":1,\"tx_ports\":[1],\"rx_ports\":[1]}]}",
                   "workers[1].cpu", "CPU 1 has a worker already");
}

/* 60 bytes: Ethernet, IPv4, UDP and the signature's place. */
#define FRAME                                                                                      \
    "02000000000102000000000008004500002e000040004011ae97c6120001c6130001"                         \
    "c020c021001af34f000000000000000000000000000000000000"
#define TRIAL "{\"id\":2,\"request\":\"trial\",\"mark\":5,\"duration_s\":1.5,\"drain_s\":0,"
#define STREAM "\"stream\":7,\"role\":\"latency\",\"tx_port\":0,\"rx_port\":1,\"rate_pps\":0.01,"

static void
a_trial_request_is_read_with_its_defaults(void **state)
{
    struct complaint complaint;
    json_t *json = parse(TRIAL "\"streams\":[{" STREAM "\"frame\":\"" FRAME "\",\"fields\":["
                               "{\"offset\":30,\"width\":4,\"flows\":16777216,\"fixes\":[24,40]},"
                               "{\"offset\":6,\"width\":6,\"flows\":2,\"step\":9}]}]}");

    (void)state;
    assert_int_equal(read_request(json, &complaint), 0);
    assert_int_equal(trial_request.mark, 5);
    assert_true(trial_request.duration_s == 1.5);
    assert_true(trial_request.drain_s == 0);
    assert_true(trial_request.interval_s == 1);
    assert_true(trial_request.catch_up_us == 1000);
    assert_true(trial_request.stall_us == 20);
    assert_int_equal(trial_request.stream_count, 1);

    const struct stream_request *stream = &trial_request.streams[0];
    assert_int_equal(stream->stream, 7);
    assert_int_equal(stream->role, ROLE_LATENCY);
    assert_int_equal(stream->tx_port, 0);
    assert_int_equal(stream->rx_port, 1);
    assert_true(stream->rate_pps == 0.01);
    assert_int_equal(stream->frame_bytes, 60);
    assert_int_equal(stream->frame[0], 0x02);
    assert_int_equal(stream->frame[12], 0x08);
    assert_int_equal(stream->frame[41], 0x4f);
    assert_int_equal(stream->fields.count, 2);
    assert_int_equal(stream->fields.field[0].flows, 1 << 24);
    assert_int_equal(stream->fields.field[0].step, 1);
    assert_int_equal(stream->fields.field[0].base, 0xc6130001);
    assert_int_equal(stream->fields.field[0].fix_count, 2);
    assert_int_equal(stream->fields.field[0].fixes[1], 40);
    assert_int_equal(stream->fields.field[1].offset, 6);
    assert_int_equal(stream->fields.field[1].width, 6);
    assert_int_equal(stream->fields.field[1].step, 9);
    assert_int_equal(stream->fields.field[1].fix_count, 0);
    json_decref(json);
}

static void
a_complaint_names_the_element(void **state)
{
    (void)state;
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frame\":\"" FRAME "\",\"fields\":["
                         "{\"offset\":6,\"width\":6,\"flows\":2},"
                         "{\"offset\":30,\"width\":4,\"flows\":2,\"fixs\":[24]}]}]}",
                   "streams[0].fields[1].fixs", "unknown field");
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frame\":\"" FRAME "\",\"fields\":["
                         "{\"offset\":30,\"width\":4,\"flows\":2,\"fixes\":[24,true]}]}]}",
                   "streams[0].fields[0].fixes[1]", "must be an integer from 0 to 9214");
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frame\":\"" FRAME "\"},{" STREAM
                         "\"frame\":\"" FRAME "\"}]}",
                   "streams[1].stream", "number 7 is used twice");
    assert_refused(TRIAL "\"streams\":[{\"stream\":0,\"role\":\"load\",\"tx_port\":2,"
                         "\"rx_port\":0,\"rate_pps\":1,\"frame\":\"" FRAME "\"}]}",
                   "streams[0].tx_port", "must be an integer from 0 to 1");
    assert_refused("{\"id\":3,\"request\":\"stp\"}", "request",
                   "unknown request 'stp': open, trial or stop");
}

static void
a_frame_is_hexadecimal_and_fits(void **state)
{
    static const char short_frame[] = TRIAL "\"streams\":[{" STREAM "\"frame\":\"0200\"}]}";
    json_t *json = parse(TRIAL "\"streams\":[{" STREAM "\"frame\":\"" FRAME "00\"}]}");
    struct complaint complaint = {0};

    (void)state;
    assert_refused(short_frame, "streams[0].frame", "must be 60 to 9214 bytes in hexadecimal");
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frame\":\"" FRAME "0\"}]}", "streams[0].frame",
                   "must be 60 to 9214 bytes in hexadecimal");
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frame\":\"" FRAME "0G\"}]}", "streams[0].frame",
                   "not hexadecimal (0-9a-f) at byte 60");
    /* The ports were opened for frames of 60 bytes. */
    assert_int_equal(request_trial(json, PORT_COUNT, 60, &trial_request, &complaint), -EINVAL);
    assert_string_equal(complaint.where, "streams[0].frame");
    assert_string_equal(complaint.message, "must be 60 to 60 bytes in hexadecimal");
    json_decref(json);
}

static void
fields_leave_the_signature_alone(void **state)
{
    static const char why[] = "a field or a checksum it fixes lies outside the first 42 bytes, or "
                              "they do not share an alignment, or two fields share a 16-bit word";

    (void)state;
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frame\":\"" FRAME "\",\"fields\":["
                         "{\"offset\":40,\"width\":4,\"flows\":2}]}]}",
                   "streams[0].fields", why);
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frame\":\"" FRAME "\",\"fields\":["
                         "{\"offset\":30,\"width\":4,\"flows\":2,\"fixes\":[41]}]}]}",
                   "streams[0].fields", why);
}

static void
the_id_is_kept_when_the_rest_is_wrong(void **state)
{
    struct complaint complaint = {0};
    enum request_kind kind;
    int64_t id;
    json_t *json = parse("{\"id\":9007199254740993,\"request\":\"what\"}");

    (void)state;
    assert_int_equal(request_head(json, &id, &kind, &complaint), -EINVAL);
    assert_int_equal(id, INT64_C(9007199254740993));
    json_decref(json);

    json = parse("{\"id\":\"x\",\"request\":\"stop\"}");
    assert_int_equal(request_head(json, &id, &kind, &complaint), -EINVAL);
    assert_int_equal(id, -1);
    assert_string_equal(complaint.where, "id");
    json_decref(json);
}

/* The complaint goes back as JSON, which is UTF-8: no character may be cut in two. */
static void
a_long_field_name_is_cut_between_characters(void **state)
{
    (void)state;
    for (uint32_t length = 150; length < 260; length++) {
        struct complaint complaint;
        json_t *json = json_pack("{s:i, s:s}", "id", 1, "request", "stop");
        char name[300];

        memset(name, 'x', length);
        snprintf(name + length, sizeof(name) - length, "\xe2\x82\xac\xc3\xa9\xf0\x9f\x9a\xa2");
        json_object_set_new(json, name, json_true());
        assert_int_equal(read_request(json, &complaint), -EINVAL);

        json_t *where = json_string(complaint.where);
        assert_non_null(where);
        assert_true(starts_with(name, complaint.where));
        assert_true(strlen(complaint.where) >= 150);
        json_decref(where);
        json_decref(json);
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
    for (uint32_t kind = 0; kind < 3; kind++) {
        json_t *good = read_vectors_of("good", kinds[kind]);
        char *text = json_dumps(json_array_get(good, 0), JSON_COMPACT);
        uint32_t refused = 0;

        for (uint32_t i = 0; i < 20000; i++) {
            char *mutant = mutate(text, &seed);
            json_t *json = json_loads(mutant, JSON_REJECT_DUPLICATES, NULL);
            struct complaint complaint;

            if (json && read_request(json, &complaint) != 0) {
                json_t *reply =
                    json_pack("{s:s, s:s}", "where", complaint.where, "message", complaint.message);
                assert_non_null(reply);
                assert_true(strlen(complaint.message) > 0);
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
        cmocka_unit_test(an_open_request_is_read_with_its_defaults),
        cmocka_unit_test(each_port_needs_one_sender_and_one_receiver),
        cmocka_unit_test(a_cpu_has_one_worker),
        cmocka_unit_test(a_trial_request_is_read_with_its_defaults),
        cmocka_unit_test(a_complaint_names_the_element),
        cmocka_unit_test(a_frame_is_hexadecimal_and_fits),
        cmocka_unit_test(fields_leave_the_signature_alone),
        cmocka_unit_test(the_id_is_kept_when_the_rest_is_wrong),
        cmocka_unit_test(a_long_field_name_is_cut_between_characters),
        cmocka_unit_test(damaged_requests_are_refused_or_read_never_worse),
    };

    if (argc != 2) {
        fprintf(stderr, "usage: %s <folder of the protocol's vectors>\n", argv[0]);
        return 2;
    }
    vectors_folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
