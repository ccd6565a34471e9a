/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what reads the engine's standard input: the line reader, and the reading of each
 * request as the session does it. The first byte of the input says in how large pieces the
 * rest arrives. A request that is refused must say why and where, in words that an error
 * reply can carry; one that is taken must be fit to run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/line_reader.h"
#include "control/requests/request.h"
#include "dataplane/frames/frame_fields.h"
#include "dataplane/frames/signature.h"
#include "dataplane/schedule/pacer.h"
#include "dataplane/schedule/send_window.h"
#include "dataplane/time/stall.h"
#include "fuzz/invariant.h"

/* Frames made of a stream that was taken, to have its fields and its schedule work. */
#define FRAMES 8

/* Large enough that the stack is no place for them. */
static struct open_request opened;
static struct trial_request trial;
/* Of the last trial that was taken, the streams, whose rates may change, and the captures. */
static struct trial_request running;

/* The ports of a session before its first open request, so that trials are read as well. */
static void
open_default(void)
{
    memset(&opened, 0, sizeof(opened));
    opened.port_count = 2;
    opened.max_frame_bytes = FRAME_MAX_BYTES;
    for (uint32_t i = 0; i < opened.port_count; i++)
        opened.ports[i] = (struct port_request){.rx_queues = 2, .tx_queues = 2};
}

static void
check_error(const json_t *json, const struct error *error)
{
    json_t *where = json_string(error->where), *message = json_string(error->message);

    invariant(where && message);
    invariant(error->message[0] != '\0');
    invariant(error->where[0] != '\0' || !json_is_object(json));
    json_decref(where);
    json_decref(message);
}

/* Every frame that a template and the fields make must fit the template. */
static void
make_frames(const struct stream_request *stream, const struct template_request *template)
{
    const struct fields *fields = &stream->fields;
    const uint32_t room = signature_bytes(stream->short_signature);
    struct frame_fields prepared;
    struct field_counters counters;
    uint8_t *frames[FRAMES];

    invariant(frame_fields_prepare(&prepared, fields, template->frame, template->bytes - room) ==
              0);
    for (uint32_t i = 0; i < FRAMES; i++) {
        frames[i] = malloc(template->bytes);
        invariant(frames[i]);
        memcpy(frames[i], template->frame, template->bytes);
    }
    field_counters_start(&counters, fields);
    frame_fields_write(&prepared, fields, &counters, frames, FRAMES);
    field_counters_rewind(&counters, fields, FRAMES / 2);
    frame_fields_write(&prepared, fields, &counters, frames, FRAMES);
    for (uint32_t i = 0; i < FRAMES; i++) {
        invariant(memcmp(frames[i] + template->bytes - room,
                         template->frame + template->bytes - room, room) == 0);
        free(frames[i]);
    }
}

/* Windows come one after the other, and none is empty. */
static void
follow_windows(const struct stream_schedule *schedule)
{
    struct send_window window;
    uint64_t before = 1000;

    send_window_start(&window, schedule, before, 2.25e9);
    for (uint32_t i = 0; i < 4 && window.begin != NO_WINDOW; i++) {
        invariant(window.begin >= before && window.end > window.begin);
        before = window.end;
        send_window_next(&window);
    }
}

static void
follow_schedule(const struct pacing *pacing)
{
    const uint64_t hz = 2250000000, start = 1000;
    struct pacer pacer;
    uint64_t due;

    pacer_start(&pacer, pacing, start, (double)hz, hz / 1000);
    for (uint64_t now = start; now < start + 4 * hz; now += hz / 3) {
        pacer_skip_late(&pacer, now);
        invariant(pacer_take(&pacer, now, FIELDS_BURST, &due) <= FIELDS_BURST);
    }
}

static void
check_stream(const struct stream_request *stream)
{
    invariant(stream->tx_port < opened.port_count && stream->rx_port < opened.port_count);
    invariant(stream->tx_queue < opened.ports[stream->tx_port].tx_queues);
    invariant(stream->template_count >= 1 && stream->template_count <= TEMPLATES_MAX);
    for (uint32_t i = 0; i < stream->template_count; i++) {
        invariant(stream->templates[i].bytes >= FRAME_MIN_BYTES);
        invariant(stream->templates[i].bytes <= opened.max_frame_bytes);
        make_frames(stream, &stream->templates[i]);
    }
    for (uint32_t i = 0; i < stream->order_count; i++)
        invariant(stream->order[i] < stream->template_count);
    follow_schedule(&stream->pacing);
    if (stream->schedule.limited)
        follow_windows(&stream->schedule);
}

static void
check_capture(const struct capture_request *capture)
{
    invariant(capture->port < opened.port_count);
    invariant(capture->snap_bytes >= 1 && capture->snap_bytes <= RECEIVED_MAX_BYTES);
    invariant(capture->most_frames >= 1 && capture->most_frames <= CAPTURE_FRAMES_MAX);
    invariant(capture->path[0] == '/' && strlen(capture->path) <= CAPTURE_PATH_MAX);
}

static void
read_trial(const json_t *json, struct error *error)
{
    memset(&trial, 0, sizeof(trial));
    const int status = request_trial(json, &opened, &trial, error);

    invariant(status == 0 || status == -EINVAL);
    if (status == 0) {
        invariant(trial.stream_count <= STREAMS_MAX);
        invariant(trial.longest <= STALL_LONGEST_MAX && trial.gap_us >= 0);
        for (uint32_t i = 0; i < trial.stream_count; i++)
            check_stream(&trial.streams[i]);
        for (uint32_t i = 0; i < trial.capture_count; i++)
            check_capture(&trial.captures[i]);
        memset(&running, 0, sizeof(running));
        running.capture_count = trial.capture_count;
        memcpy(running.captures, trial.captures, sizeof(running.captures));
        running.stream_count = trial.stream_count;
        for (uint32_t i = 0; i < trial.stream_count; i++) {
            running.streams[i].stream = trial.streams[i].stream;
            running.streams[i].pacing = trial.streams[i].pacing;
        }
    } else {
        check_error(json, error);
    }
    trial_request_clear(&trial);
}

static void
check_queues(const struct queue_request *queues, uint32_t count, bool receiving)
{
    for (uint32_t i = 0; i < count; i++) {
        invariant(queues[i].port < opened.port_count);
        const struct port_request *port = &opened.ports[queues[i].port];
        invariant(queues[i].queue < (receiving ? port->rx_queues : port->tx_queues));
    }
}

static void
read_open(const json_t *json, struct error *error)
{
    memset(&opened, 0, sizeof(opened));
    if (request_open(json, &opened, error) != 0) {
        check_error(json, error);
        open_default();
        return;
    }
    invariant(opened.port_count <= PORTS_MAX);
    invariant(opened.worker_count >= 1 && opened.worker_count <= WORKERS_MAX);
    for (uint32_t i = 0; i < opened.worker_count; i++) {
        check_queues(opened.workers[i].rx, opened.workers[i].rx_count, true);
        check_queues(opened.workers[i].tx, opened.workers[i].tx_count, false);
    }
}

/* A schedule whose rate changes neither goes back nor comes to a standstill. */
static void
change_rate(const struct pacing *pacing, double rate_pps)
{
    const uint64_t hz = UINT64_C(2600000000), start = UINT64_C(1) << 50;
    struct pacer pacer;
    uint64_t due, after;

    pacer_start(&pacer, pacing, start, (double)hz, hz / 1000);
    for (uint64_t now = start; now < start + 4 * hz; now += hz / 3) {
        pacer_skip_late(&pacer, now);
        pacer_take(&pacer, now, FIELDS_BURST, &due);
        due = pacer_due(&pacer);
        pacer_change_rate(&pacer, now % 2 ? pacing->rate_pps : rate_pps, now);
        after = pacer_due(&pacer);
        invariant(after == due || after >= now);
    }
}

static void
read_rates(const json_t *json, struct error *error)
{
    struct rates_request rates = {0};
    const int status = request_rates(json, &running, &rates, error);

    invariant(status == 0 || status == -EINVAL);
    if (status != 0) {
        check_error(json, error);
        return;
    }
    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        if (!(rates.streams & (UINT64_C(1) << i)))
            continue;
        invariant(i < running.stream_count && running.streams[i].pacing.rated);
        change_rate(&running.streams[i].pacing, rates.rate_pps[i]);
    }
}

static void
read_switch(const json_t *json, struct error *error)
{
    struct capture_switch change = {0};
    const int status = request_capture(json, &running, &change, error);

    invariant(status == 0 || status == -EINVAL);
    if (status != 0)
        check_error(json, error);
    else
        invariant(change.capture < running.capture_count);
}

static void
read_link(const json_t *json, struct error *error)
{
    struct link_request request = {0};
    const int status = request_link(json, &opened, &request, error);

    invariant(status == 0 || status == -EINVAL);
    if (status != 0)
        check_error(json, error);
    else
        invariant(request.port < opened.port_count);
}

/* As session.c's answer() reads a line. */
static void
read_line(const char *line)
{
    struct error error = {0};
    enum request_kind kind;
    json_error_t json_error;
    int64_t id;
    json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, &json_error);

    if (!json) {
        invariant(json_error.text[0] != '\0');
        return;
    }
    if (request_head(json, &id, &kind, &error) != 0)
        check_error(json, &error);
    else if (kind == REQUEST_OPEN)
        read_open(json, &error);
    else if (kind == REQUEST_TRIAL)
        read_trial(json, &error);
    else if (kind == REQUEST_RATES)
        read_rates(json, &error);
    else if (kind == REQUEST_CAPTURE)
        read_switch(json, &error);
    else if (kind == REQUEST_LINK)
        read_link(json, &error);
    else if (request_stop(json, &error) != 0)
        check_error(json, &error);
    json_decref(json);
}

/* Reads what has arrived; true at the end of the input. */
static bool
read_arrived(struct line_reader *reader)
{
    enum line_status status;
    char *line;

    while ((status = line_reader_next(reader, 0, &line)) != LINE_NONE) {
        if (status == LINE_END)
            return true;
        if (status == LINE_READY)
            read_line(line);
    }
    return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t piece = size > 0 ? 1 + ((size_t)data[0] << 4) : 1;
    struct line_reader reader;
    int fds[2];

    memset(&running, 0, sizeof(running));
    invariant(pipe(fds) == 0 && line_reader_open(&reader, fds[0]) == 0);
    open_default();
    for (size_t at = 1; at < size; at += piece) {
        const size_t count = size - at < piece ? size - at : piece;

        invariant(write(fds[1], data + at, count) == (ssize_t)count);
        read_arrived(&reader);
    }
    close(fds[1]);
    invariant(read_arrived(&reader));
    line_reader_close(&reader);
    close(fds[0]);
    return 0;
}
