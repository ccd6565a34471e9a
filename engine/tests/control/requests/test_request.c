/* SPDX-License-Identifier: Apache-2.0 */
#include "request_reading.h"

#define OPEN "{\"id\":1,\"request\":\"open\",\"memory\":{\"huge\":false,\"megabytes\":64},"
#define PORTS "\"ports\":[{\"devargs\":\"net_null0\"},{\"devargs\":\"net_null1\"}],"
#define CPUS "\"main_cpus\":[0],"

static void
an_open_request_is_read_with_its_defaults(void **state)
{
    struct error error;
    json_t *json = parse(OPEN PORTS "\"main_cpus\":[3,1],\"workers\":["
                                    "{\"cpu\":5,\"tx\":[[0,0],[1,0],[0,1]],\"rx\":[]},"
                                    "{\"cpu\":6,\"tx\":[],\"rx\":[[1,0],[0,0]]}]}");

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_false(open_request.huge);
    assert_int_equal(open_request.memory_megabytes, 64);
    assert_int_equal(open_request.main_cpu_count, 2);
    assert_int_equal(open_request.main_cpus[0], 3);
    assert_int_equal(open_request.main_cpus[1], 1);
    assert_int_equal(open_request.worker_count, 2);
    assert_int_equal(open_request.workers[0].cpu, 5);
    assert_int_equal(open_request.workers[0].tx_count, 3);
    assert_int_equal(open_request.workers[0].tx[2].port, 0);
    assert_int_equal(open_request.workers[0].tx[2].queue, 1);
    assert_int_equal(open_request.workers[0].rx_count, 0);
    assert_int_equal(open_request.workers[1].cpu, 6);
    assert_int_equal(open_request.workers[1].tx_count, 0);
    assert_int_equal(open_request.workers[1].rx_count, 2);
    assert_int_equal(open_request.workers[1].rx[0].port, 1);
    assert_int_equal(open_request.port_count, 2);
    assert_string_equal(open_request.ports[1].devargs, "net_null1");
    assert_int_equal(open_request.ports[1].descriptors, 1024);
    assert_int_equal(open_request.ports[1].stamps, STAMPS_TSC);
    assert_int_equal(open_request.ports[0].tx_queues, 2);
    assert_int_equal(open_request.ports[0].rx_queues, 1);
    assert_int_equal(open_request.ports[1].tx_queues, 1);
    assert_true(open_request.link_wait_s == 10);
    assert_int_equal(open_request.max_frame_bytes, 1518);
    json_decref(json);
}

#define WORKER(cpu, tx, rx) "{\"cpu\":" cpu ",\"tx\":[" tx "],\"rx\":[" rx "]}"
#define WORKERS(list) OPEN CPUS PORTS "\"workers\":[" list "]}"

static void
each_port_needs_a_sender_and_a_receiver(void **state)
{
    (void)state;
    assert_refused(WORKERS(WORKER("1", "[0,0],[1,0]", "[0,0]")), "workers",
                   "port 1 needs workers for its queues from 0 on, each way");
    assert_refused(WORKERS(WORKER("1", "[1,0]", "[0,0],[1,0]")), "workers",
                   "port 0 needs workers for its queues from 0 on, each way");
}

static void
each_queue_has_one_worker(void **state)
{
    (void)state;
    assert_refused(WORKERS(WORKER("1", "[0,0],[1,0]", "[0,0],[1,0]") "," WORKER("2", "", "[1,0]")),
                   "workers[1].rx", "queue 0 of port 1 is polled twice");
    assert_refused(WORKERS(WORKER("1", "[0,0],[0,0],[1,0]", "[0,0],[1,0]")), "workers[0].tx",
                   "queue 0 of port 0 is polled twice");
}

static void
queues_are_there_and_without_holes(void **state)
{
    (void)state;
    assert_refused(WORKERS(WORKER("1", "[0,0],[2,0]", "[0,0],[1,0]")), "workers[0].tx",
                   "there is no port 2");
    assert_refused(WORKERS(WORKER("1", "[0,0],[1,16]", "[0,0],[1,0]")), "workers[0].tx",
                   "queue 16 is not 0 to 15");
    assert_refused(WORKERS(WORKER("1", "[0,0],[1,0]", "[0,0],[1,0],[1,2]")), "workers",
                   "port 1 needs workers for its queues from 0 on, each way");
    assert_refused(WORKERS(WORKER("1", "[0,0],[1]", "[0,0],[1,0]")), "workers[0].tx",
                   "each must be [port, queue]");
}

static void
a_device_is_no_option(void **state)
{
    (void)state;
    assert_refused(OPEN CPUS "\"ports\":[{\"devargs\":\"--no-pci\"}],\"workers\":[" WORKER(
                       "1", "[0,0]", "[0,0]") "]}",
                   "ports[0].devargs", "must begin with a device's name or address");
}

static void
a_cpu_has_one_worker(void **state)
{
    (void)state;
    assert_refused(OPEN CPUS PORTS "\"workers\":[{\"cpu\":1,\"tx\":[[0,0]],\"rx\":[[0,0]]},"
                                   "{\"cpu\":1,\"tx\":[[1,0]],\"rx\":[[1,0]]}]}",
                   "workers[1].cpu", "CPU 1 has a worker already");
}

static void
workers_without_ports_have_no_queues(void **state)
{
    struct error error;
    json_t *json = parse(OPEN CPUS "\"ports\":[],\"workers\":[" WORKER("1", "", "") "]}");

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(open_request.port_count, 0);
    assert_int_equal(open_request.worker_count, 1);
    assert_int_equal(open_request.workers[0].rx_count, 0);
    json_decref(json);
    assert_refused(OPEN CPUS "\"ports\":[],\"workers\":[" WORKER("1", "[0,0]", "") "]}",
                   "workers[0].tx", "there is no port 0");
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
    struct error error;
    json_t *json = parse(TRIAL "\"streams\":[{" STREAM "\"frames\":[\"" FRAME "\"],\"fields\":["
                               "{\"offset\":30,\"width\":4,\"count\":16777216,\"fixes\":[24,40]},"
                               "{\"offset\":6,\"width\":6,\"count\":2,\"step\":9}]}]}");

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(trial_request.mark, 5);
    assert_true(trial_request.duration_s == 1.5);
    assert_true(trial_request.drain_s == 0);
    assert_true(trial_request.interval_s == 1);
    assert_true(trial_request.catch_up_us == 1000);
    assert_true(trial_request.stall_us == 20);
    assert_true(trial_request.gap_us == 1);
    assert_int_equal(trial_request.longest, 16);
    assert_int_equal(trial_request.stream_count, 1);

    const struct stream_request *stream = &trial_request.streams[0];
    assert_int_equal(stream->stream, 7);
    assert_int_equal(stream->role, ROLE_LATENCY);
    assert_int_equal(stream->tx_port, 0);
    assert_int_equal(stream->rx_port, 1);
    assert_int_equal(stream->pacing.kind, PACING_CONSTANT);
    assert_true(stream->pacing.rate_pps == 0.01);
    assert_int_equal(stream->frame_count, 0);
    assert_int_equal(stream->template_count, 1);
    assert_int_equal(stream->order_count, 0);
    assert_int_equal(stream->flow_count, 0);
    assert_int_equal(stream->templates[0].bytes, 60);
    assert_int_equal(stream->templates[0].frame[0], 0x02);
    assert_int_equal(stream->templates[0].frame[12], 0x08);
    assert_int_equal(stream->templates[0].frame[41], 0x4f);
    assert_int_equal(stream->fields.count, 2);
    assert_int_equal(stream->fields.field[0].count, 1 << 24);
    assert_int_equal(stream->fields.field[0].step, 1);
    assert_int_equal(stream->fields.field[0].kind, FIELD_INCREMENT);
    assert_int_equal(stream->fields.field[0].mask, UINT32_MAX);
    assert_int_equal(stream->fields.field[0].fix_count, 2);
    assert_int_equal(stream->fields.field[0].fixes[1], 40);
    assert_int_equal(stream->fields.field[1].offset, 6);
    assert_int_equal(stream->fields.field[1].width, 6);
    assert_int_equal(stream->fields.field[1].step, 9);
    assert_int_equal(stream->fields.field[1].fix_count, 0);
    json_decref(json);
}

static void
flows_may_be_counted(void **state)
{
    struct error error;
    json_t *json = parse(TRIAL "\"streams\":[{" STREAM "\"flows\":{\"count\":65536,\"first\":9},"
                               "\"frames\":[\"" FRAME "\"]}]}");

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(trial_request.streams[0].flow_count, 65536);
    assert_int_equal(trial_request.streams[0].first_flow, 9);
    json_decref(json);
}

static void
a_trial_may_have_no_streams(void **state)
{
    struct error error;
    json_t *json = parse(TRIAL "\"stall_us\":1,\"gap_us\":0,\"longest\":64,\"streams\":[]}");

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(trial_request.stream_count, 0);
    assert_true(trial_request.gap_us == 0);
    assert_int_equal(trial_request.longest, 64);
    json_decref(json);
}

static void
streams_need_ports(void **state)
{
    json_t *json = parse(TRIAL "\"streams\":[{" STREAM "\"frames\":[\"" FRAME "\"]}]}");
    struct open_request config = reading_config;
    struct error error = {0};

    (void)state;
    config.port_count = 0;
    trial_request_clear(&trial_request);
    assert_int_equal(request_trial(json, &config, &trial_request, &error), -EINVAL);
    assert_string_equal(error.where, "streams");
    assert_string_equal(error.message, "there is no port to send on");
    json_decref(json);
}

static void
an_error_names_the_element(void **state)
{
    (void)state;
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frames\":[\"" FRAME "\"],\"fields\":["
                         "{\"offset\":6,\"width\":6,\"count\":2},"
                         "{\"offset\":30,\"width\":4,\"count\":2,\"fixs\":[24]}]}]}",
                   "streams[0].fields[1].fixs", "unknown field");
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frames\":[\"" FRAME "\"],\"fields\":["
                         "{\"offset\":30,\"width\":4,\"count\":2,\"fixes\":[24,true]}]}]}",
                   "streams[0].fields[0].fixes[1]", "must be an integer from 0 to 9214");
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frames\":[\"" FRAME "\"]},{" STREAM
                         "\"frames\":[\"" FRAME "\"]}]}",
                   "streams[1].stream", "number 7 is used twice");
    assert_refused(TRIAL "\"loss_limits\":[{\"frames\":1,\"streams\":[7]},{\"frames\":1,"
                         "\"streams\":[7,6]}],\"streams\":[{" STREAM "\"frames\":[\"" FRAME
                         "\"]}]}",
                   "loss_limits[1].streams", "there is no stream 6");
    assert_refused(TRIAL "\"streams\":[{\"stream\":0,\"role\":\"load\",\"tx_port\":2,"
                         "\"rx_port\":0,\"rate_pps\":1,\"frames\":[\"" FRAME "\"]}]}",
                   "streams[0].tx_port", "must be an integer from 0 to 1");
    assert_refused("{\"id\":3,\"request\":\"stp\"}", "request",
                   "unknown request 'stp': open, resolve, trial, rates, capture, link or "
                   "stop");
}

#define FRAMES(list) TRIAL "\"streams\":[{" STREAM "\"frames\":[" list "]}]}"

static void
frames_are_hexadecimal_and_fit(void **state)
{
    static const char size[] = "number 1 must be 60 to 9214 bytes in hexadecimal";

    (void)state;
    assert_refused(FRAMES("\"" FRAME "\",\"0200\""), "streams[0].frames", size);
    assert_refused(FRAMES("\"" FRAME "\",\"" FRAME "0\""), "streams[0].frames", size);
    assert_refused(FRAMES("\"" FRAME "\",7"), "streams[0].frames", size);
    assert_refused(FRAMES("\"" FRAME "01\""), "streams[0].frames",
                   "number 0 must end with 18 zero bytes, the signature's place");
    assert_refused(FRAMES("\"" FRAME "0G\""), "streams[0].frames",
                   "number 0 is not hexadecimal (0-9a-f) at byte 60");
}

static void
frames_fit_what_the_ports_were_opened_for(void **state)
{
    json_t *json = parse(FRAMES("\"" FRAME "00\""));
    struct open_request config = reading_config;
    struct error error = {0};

    (void)state;
    config.max_frame_bytes = 60;
    trial_request_clear(&trial_request);
    assert_int_equal(request_trial(json, &config, &trial_request, &error), -EINVAL);
    assert_string_equal(error.where, "streams[0].frames");
    assert_string_equal(error.message, "number 0 must be 60 to 60 bytes in hexadecimal");
    trial_request_clear(&trial_request);
    json_decref(json);
}

#define TWO_FRAMES "\"frames\":[\"" FRAME "\",\"" FRAME "0000\"],"

static void
an_order_names_frames_that_are_there(void **state)
{
    struct error error;
    json_t *json = parse(TRIAL "\"streams\":[{" STREAM TWO_FRAMES "\"order\":[0,0,1]}]}");

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(trial_request.streams[0].template_count, 2);
    assert_int_equal(trial_request.streams[0].templates[1].bytes, 62);
    assert_int_equal(trial_request.streams[0].order_count, 3);
    assert_int_equal(trial_request.streams[0].order[1], 0);
    assert_int_equal(trial_request.streams[0].order[2], 1);
    json_decref(json);
    assert_refused(TRIAL "\"streams\":[{" STREAM TWO_FRAMES "\"order\":[0,2]}]}",
                   "streams[0].order[1]", "must be an integer from 0 to 1");
}

#define PACED(rate, pacing)                                                                        \
    TRIAL "\"streams\":[{\"stream\":7,\"role\":\"load\",\"tx_port\":0,\"rx_port\":1," rate         \
          "\"frames\":[\"" FRAME "\"],\"pacing\":{" pacing "}}]}"
#define RATE "\"rate_pps\":10,"
#define CAPTURED(frames, gaps)                                                                     \
    TRIAL "\"streams\":[{" STREAM frames ",\"pacing\":{\"kind\":\"captured\",\"gaps_ns\":[" gaps   \
          "]}}]}"

static void
read_paced(const char *text, enum pacing_kind kind)
{
    struct error error;
    json_t *json = parse(text);

    assert_int_equal(read_request(json, &error), 0);
    assert_int_equal(trial_request.streams[0].pacing.kind, kind);
    json_decref(json);
}

static void
each_pacing_is_read(void **state)
{
    const struct pacing *pacing = &trial_request.streams[0].pacing;

    (void)state;
    read_paced(PACED(RATE, "\"kind\":\"constant\""), PACING_CONSTANT);
    assert_true(pacing->rate_pps == 10);
    read_paced(PACED(RATE, "\"kind\":\"burst\",\"frames\":32"), PACING_BURST);
    assert_int_equal(pacing->burst_frames, 32);
    read_paced(PACED(RATE, "\"kind\":\"poisson\",\"seed\":9"), PACING_POISSON);
    assert_int_equal(pacing->seed, 9);
    read_paced(CAPTURED("\"frames\":[\"" FRAME "\"],\"order\":[0,0,0,0]", "300,0,100,200"),
               PACING_CAPTURED);
    assert_int_equal(pacing->round_frames, 4);
    assert_int_equal(pacing->due_shares[0], 0);
    assert_int_equal(pacing->due_shares[1], UINT64_C(1) << 63);
    assert_int_equal(pacing->due_shares[2], UINT64_C(1) << 63);
    assert_int_equal(pacing->due_shares[3], UINT64_C(0xaaaaaaaaaaaaaaaa));
    read_paced(PACED("", "\"kind\":\"back-to-back\""), PACING_BACK_TO_BACK);
    assert_true(pacing->rate_pps == 0);
    read_paced(PACED("", "\"kind\":\"one-in-flight\",\"timeout_us\":2.5"), PACING_ONE_IN_FLIGHT);
    assert_true(pacing->timeout_us == 2.5);
}

#define SCHEDULED(schedule) PACED(RATE, "\"kind\":\"constant\"},\"schedule\":{" schedule)

static void
read_scheduled(const char *text)
{
    struct error error;
    json_t *json = parse(text);

    assert_int_equal(read_request(json, &error), 0);
    assert_true(trial_request.streams[0].schedule.limited);
    json_decref(json);
}

static void
a_schedule_is_read(void **state)
{
    const struct stream_schedule *schedule = &trial_request.streams[0].schedule;

    (void)state;
    read_paced(PACED(RATE, "\"kind\":\"constant\""), PACING_CONSTANT);
    assert_false(schedule->limited);
    read_scheduled(SCHEDULED("\"start_s\":5"));
    assert_true(schedule->start_s == 5 && schedule->duration_s == 0);
    assert_false(schedule->repeats);
    read_scheduled(SCHEDULED("\"duration_s\":0.5,\"pause_s\":2"));
    assert_true(schedule->start_s == 0 && schedule->duration_s == 0.5);
    assert_true(schedule->repeats && schedule->pause_s == 2);
    read_scheduled(SCHEDULED("\"duration_s\":0.5,\"pause_s\":0"));
    assert_true(schedule->repeats && schedule->pause_s == 0);
}

static void
a_senseless_schedule_is_refused(void **state)
{
    (void)state;
    assert_refused(SCHEDULED("\"pause_s\":2"), "streams[0].schedule.pause_s", "needs duration_s");
    assert_refused(PACED("", "\"kind\":\"one-in-flight\",\"timeout_us\":2.5},\"schedule\":{"),
                   "streams[0].schedule", "one-in-flight streams have none");
}

static void
a_short_signature_needs_less_room(void **state)
{
    struct error error;
    json_t *json = parse(TRIAL "\"streams\":[{\"stream\":7,\"role\":\"load\",\"tx_port\":0,"
                               "\"rx_port\":1," RATE "\"signature\":\"short\",\"frames\":[\"" FRAME
                               "07000000000000000000000000\"]}]}");

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    assert_true(trial_request.streams[0].short_signature);
    json_decref(json);
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"signature\":\"short\",\"frames\":[\"" FRAME
                         "\"]}]}",
                   "streams[0].signature", "must be full for latency streams");
}

static void
a_pacing_without_what_it_needs_is_refused(void **state)
{
    (void)state;
    assert_refused(PACED("", "\"kind\":\"poisson\""), "streams[0].rate_pps", "missing");
    assert_refused(PACED(RATE, "\"kind\":\"back-to-back\""), "streams[0].rate_pps",
                   "back-to-back streams have no rate");
    assert_refused(PACED(RATE, "\"kind\":\"burst\""), "streams[0].pacing.frames", "missing");
    assert_refused(PACED(RATE, "\"kind\":\"poisson\",\"frames\":3"), "streams[0].pacing.frames",
                   "unknown field");
    assert_refused(PACED(RATE, "\"kind\":\"steady\""), "streams[0].pacing.kind",
                   "must be constant, burst, poisson, captured, back-to-back or one-in-flight");
    assert_refused(PACED(RATE, "\"kind\":\"captured\""), "streams[0].pacing.gaps_ns", "missing");
    assert_refused(CAPTURED(TWO_FRAMES "\"order\":[0,1,0]", "5,5"), "streams[0].pacing",
                   "has 2 gaps for an order of 3 frames");
    assert_refused(CAPTURED(TWO_FRAMES "\"order\":[0,1]", "5,0"), "streams[0].pacing.gaps_ns",
                   "must end with a gap before the next round");
    assert_refused(CAPTURED(TWO_FRAMES "\"order\":[0,1]", "5,604800000000001"),
                   "streams[0].pacing.gaps_ns[1]", "must be an integer from 0 to 604800000000000");
    assert_refused(CAPTURED(TWO_FRAMES "\"order\":[0]", "5"), "streams[0].pacing.gaps_ns",
                   "must be an array of 2 to 4096 elements");
}

#define FIELD(text)                                                                                \
    TRIAL "\"streams\":[{" STREAM "\"frames\":[\"" FRAME "\"],\"fields\":[{" text "}]}]}"

static void
lists_and_masks_are_read(void **state)
{
    struct error error;
    json_t *json = parse(FIELD("\"offset\":34,\"width\":2,\"kind\":\"list\",\"count\":2,"
                               "\"values\":[53,4789],\"first\":1,\"mask\":\"0fff\""));

    (void)state;
    assert_int_equal(read_request(json, &error), 0);
    const struct field *field = &trial_request.streams[0].fields.field[0];
    assert_int_equal(field->kind, FIELD_LIST);
    assert_int_equal(field->first, 1);
    assert_int_equal(field->mask, 0x0fff);
    assert_int_equal(field->values[0], 53);
    assert_int_equal(field->values[1], 4789);
    json_decref(json);
}

static void
bad_lists_and_masks_are_refused(void **state)
{
    (void)state;
    assert_refused(FIELD("\"offset\":34,\"width\":2,\"kind\":\"list\",\"count\":2,\"values\":[1]"),
                   "streams[0].fields[0].values", "must be an array of 2 to 2 elements");
    assert_refused(FIELD("\"offset\":34,\"width\":2,\"count\":2,\"values\":[1,2]"),
                   "streams[0].fields[0].values", "only a list has them");
    assert_refused(FIELD("\"offset\":34,\"width\":2,\"count\":2,\"mask\":\"0f0f\""),
                   "streams[0].fields[0].mask", "must have ones, and no zeros between them");
    assert_refused(FIELD("\"offset\":34,\"width\":2,\"count\":2,\"mask\":\"0000\""),
                   "streams[0].fields[0].mask", "must have ones, and no zeros between them");
    assert_refused(FIELD("\"offset\":34,\"width\":2,\"count\":2,\"mask\":\"0fffff\""),
                   "streams[0].fields[0].mask", "must be 4 hexadecimal digits (0-9a-f)");
    assert_refused(FIELD("\"offset\":34,\"width\":2,\"count\":2,\"first\":2"),
                   "streams[0].fields[0].first", "must be an integer from 0 to 1");
}

static void
fields_leave_the_signature_alone(void **state)
{
    static const char why[] =
        "a field or a checksum it fixes lies outside the first 42 bytes of "
        "frame 0, or they do not share an alignment, or two fields share bits";

    (void)state;
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frames\":[\"" FRAME "\"],\"fields\":["
                         "{\"offset\":40,\"width\":4,\"count\":2}]}]}",
                   "streams[0].fields", why);
    assert_refused(TRIAL "\"streams\":[{" STREAM "\"frames\":[\"" FRAME "\"],\"fields\":["
                         "{\"offset\":30,\"width\":4,\"count\":2,\"fixes\":[41]}]}]}",
                   "streams[0].fields", why);
}

static void
the_id_is_kept_when_the_rest_is_wrong(void **state)
{
    struct error error = {0};
    enum request_kind kind;
    int64_t id;
    json_t *json = parse("{\"id\":9007199254740993,\"request\":\"what\"}");

    (void)state;
    assert_int_equal(request_head(json, &id, &kind, &error), -EINVAL);
    assert_int_equal(id, INT64_C(9007199254740993));
    json_decref(json);

    json = parse("{\"id\":\"x\",\"request\":\"stop\"}");
    assert_int_equal(request_head(json, &id, &kind, &error), -EINVAL);
    assert_int_equal(id, -1);
    assert_string_equal(error.where, "id");
    json_decref(json);
}

/* The error goes back as JSON, which is UTF-8: no character may be cut in two. */
static void
a_long_field_name_is_cut_between_characters(void **state)
{
    (void)state;
    for (uint32_t length = 150; length < 260; length++) {
        struct error error;
        json_t *json = json_pack("{s:i, s:s}", "id", 1, "request", "stop");
        char name[300];

        memset(name, 'x', length);
        snprintf(name + length, sizeof(name) - length, "\xe2\x82\xac\xc3\xa9\xf0\x9f\x9a\xa2");
        json_object_set_new(json, name, json_true());
        assert_int_equal(read_request(json, &error), -EINVAL);

        json_t *where = json_string(error.where);
        assert_non_null(where);
        assert_memory_equal(name, error.where, strlen(error.where));
        assert_true(strlen(error.where) >= 150);
        json_decref(where);
        json_decref(json);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_request_is_read_with_its_defaults),
        cmocka_unit_test(each_port_needs_a_sender_and_a_receiver),
        cmocka_unit_test(each_queue_has_one_worker),
        cmocka_unit_test(queues_are_there_and_without_holes),
        cmocka_unit_test(a_device_is_no_option),
        cmocka_unit_test(a_cpu_has_one_worker),
        cmocka_unit_test(a_trial_request_is_read_with_its_defaults),
        cmocka_unit_test(workers_without_ports_have_no_queues),
        cmocka_unit_test(flows_may_be_counted),
        cmocka_unit_test(a_trial_may_have_no_streams),
        cmocka_unit_test(streams_need_ports),
        cmocka_unit_test(an_error_names_the_element),
        cmocka_unit_test(frames_are_hexadecimal_and_fit),
        cmocka_unit_test(frames_fit_what_the_ports_were_opened_for),
        cmocka_unit_test(an_order_names_frames_that_are_there),
        cmocka_unit_test(each_pacing_is_read),
        cmocka_unit_test(a_schedule_is_read),
        cmocka_unit_test(a_senseless_schedule_is_refused),
        cmocka_unit_test(a_short_signature_needs_less_room),
        cmocka_unit_test(a_pacing_without_what_it_needs_is_refused),
        cmocka_unit_test(lists_and_masks_are_read),
        cmocka_unit_test(bad_lists_and_masks_are_refused),
        cmocka_unit_test(fields_leave_the_signature_alone),
        cmocka_unit_test(the_id_is_kept_when_the_rest_is_wrong),
        cmocka_unit_test(a_long_field_name_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
