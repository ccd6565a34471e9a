/* SPDX-License-Identifier: Apache-2.0 */
#include "request_reading.h"

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
        assert_memory_equal(name, complaint.where, strlen(complaint.where));
        assert_true(strlen(complaint.where) >= 150);
        json_decref(where);
        json_decref(json);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_request_is_read_with_its_defaults),
        cmocka_unit_test(each_port_needs_one_sender_and_one_receiver),
        cmocka_unit_test(a_cpu_has_one_worker),
        cmocka_unit_test(a_trial_request_is_read_with_its_defaults),
        cmocka_unit_test(a_complaint_names_the_element),
        cmocka_unit_test(a_frame_is_hexadecimal_and_fits),
        cmocka_unit_test(fields_leave_the_signature_alone),
        cmocka_unit_test(the_id_is_kept_when_the_rest_is_wrong),
        cmocka_unit_test(a_long_field_name_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
