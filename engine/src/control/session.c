/* SPDX-License-Identifier: Apache-2.0 */
#include "control/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/line_reader.h"
#include "control/messages/message.h"
#include "control/requests/request.h"
#include "ports/eal.h"
#include "trial/clocks/tsc_rate.h"
#include "trial/held_intervals.h"
#include "trial/idle_ports.h"

struct session {
    struct line_reader reader;
    int out_fd;
    bool eal_started;
    bool over; /* the peer is gone, or the engine cannot go on */
    int exit_status;
    int64_t trial_id; /* of the trial that runs, or -1 */
    struct clock_reading started;
    double tsc_hz;
    struct open_request config;
    struct ports ports;
    struct idle_ports idle;
    struct trial_request trial_request;
    const struct trial *trial; /* that runs, or whose held intervals are handed over */
    struct trial *waiting;     /* that runs and waits for requests */
    struct held_intervals held;
};

static volatile sig_atomic_t end_requested;

void
session_end(void)
{
    end_requested = 1;
}

/* Writes one message as a line and frees it. A peer that is gone ends the session. */
static void
send_message(struct session *session, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    size_t length = text ? strlen(text) : 0, written = 0;

    if (text)
        text[length++] = '\n'; /* in place of the NUL: written by length */
    while (text && written < length) {
        const ssize_t count = write(session->out_fd, text + written, length - written);

        /* One who does not read must not keep the engine from ending. */
        if (count < 0 && errno == EINTR && !end_requested)
            continue;
        if (count <= 0)
            break;
        written += (size_t)count;
    }
    if (!text || written < length) {
        session->over = true;
        session->exit_status = EXIT_FAILURE;
    }
    free(text);
    json_decref(message);
}

static void
refuse(struct session *session, int64_t id, const struct error *error, bool fatal)
{
    send_message(session, message_error(id, error, fatal));
    if (fatal) {
        session->over = true;
        session->exit_status = EXIT_FAILURE;
    }
}

/* Whether no one waits for the links any more. Requests of that time are answered later. */
static bool
peer_gone(void *context)
{
    const struct session *session = context;
    struct pollfd peer = {.fd = session->reader.fd};

    return end_requested || (poll(&peer, 1, 0) > 0 && (peer.revents & (POLLHUP | POLLERR)) != 0);
}

static void
open_ports(struct session *session, int64_t id, const json_t *json)
{
    struct error error = {0};

    if (session->eal_started) {
        set_error(&error, -EALREADY, "request", "the ports are open already");
        refuse(session, id, &error, false);
        return;
    }
    if (request_open(json, &session->config, &error) != 0) {
        refuse(session, id, &error, false);
        return;
    }
    if (eal_start(&session->config, &error) != 0) {
        refuse(session, id, &error, true);
        return;
    }
    session->eal_started = true;
    if (ports_open(&session->ports, &session->config, peer_gone, session, &error) != 0) {
        refuse(session, id, &error, true);
        return;
    }
    session->tsc_hz = tsc_rate_since(&session->started);
    send_message(session, message_opened(id, &session->config, &session->ports, session->tsc_hz));
}

static void
say_interval(void *context, const struct interval *interval)
{
    struct session *session = context;

    send_message(session, message_interval(session->trial_id, session->trial, interval));
}

static void
take_interval(void *context, const struct trial *trial)
{
    struct session *session = context;
    const enum held_state state = held_intervals_add(&session->held, trial);

    if (state == HELD)
        return;
    session->trial = trial;
    held_intervals_hand_over(&session->held, say_interval, session);
    if (state == HELD_NOT) {
        const struct interval interval = trial_interval(trial);

        say_interval(session, &interval);
    }
}

static void
say_ended(void *context, const struct trial *trial, uint64_t streams)
{
    struct session *session = context;

    send_message(session, message_ended(session->trial_id, trial, streams));
}

static bool listen_during_trial(void *context, struct trial *trial, int milliseconds);

/* Reads the request into session->trial_request; sends an error and returns false if it cannot. */
static bool
read_trial(struct session *session, int64_t id, const json_t *json)
{
    struct error error = {0};
    int status;

    if (!session->eal_started) {
        set_error(&error, -ENOTCONN, "request", "nothing is open");
        refuse(session, id, &error, false);
        return false;
    }
    status = request_trial(json, &session->config, &session->trial_request, &error);
    if (status == -ENOMEM)
        set_error(&error, -ENOMEM, "streams", "no memory for the frames");
    if (status != 0)
        refuse(session, id, &error, false);
    return status == 0;
}

static void
run_trial(struct session *session, int64_t id)
{
    const struct trial_hooks hooks = {session, take_interval, say_ended, listen_during_trial};
    struct error error = {0};
    struct trial *trial;

    session->trial_id = id;
    held_intervals_open(&session->held);
    trial = trial_run(&session->trial_request, &session->config, &session->ports, &session->idle,
                      session->tsc_hz, &hooks, &error);
    session->trial = trial;
    held_intervals_hand_over(&session->held, say_interval, session);
    session->trial_id = -1;
    if (trial)
        send_message(session, message_trial(id, trial));
    else
        refuse(session, id, &error, false);
    trial_free(trial);
}

/* Reads one line as JSON; NULL after an error was sent to the peer. */
static json_t *
parse(struct session *session, const char *line)
{
    struct error error = {0};
    json_error_t json_error;
    json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, &json_error);

    if (!json) {
        set_error(&error, -EINVAL, "", "not JSON: %s", json_error.text);
        refuse(session, -1, &error, false);
    }
    return json;
}

static void
change_rates(struct session *session, int64_t id, const json_t *json)
{
    struct rates_request request = {0};
    struct error error = {0};
    uint64_t changed = 0;
    int status;

    if (!session->waiting)
        status = set_error(&error, -ENOENT, "request", "no trial is running");
    else
        status = request_rates(json, &session->trial_request, &request, &error);
    if (status == 0) {
        changed = trial_change_rates(session->waiting, &request);
        if (changed == 0)
            status = set_error(&error, -ENOENT, "request", "the trial has ended sending");
    }
    if (status == 0)
        send_message(session, message_rates(id, session->waiting, &request, changed));
    else
        refuse(session, id, &error, false);
}

static void
switch_capture(struct session *session, int64_t id, const json_t *json)
{
    struct capture_switch change = {0};
    struct error error = {0};
    uint64_t switched = 0;

    if (!session->waiting)
        set_error(&error, -ENOENT, "request", "no trial is running");
    else if (request_capture(json, &session->trial_request, &change, &error) == 0)
        switched = trial_switch_capture(session->waiting, &change, &error);
    if (switched != 0)
        send_message(session, message_capture(id, session->waiting, &change, switched));
    else
        refuse(session, id, &error, false);
}

static void
set_link(struct session *session, int64_t id, const json_t *json)
{
    struct link_request request = {0};
    struct error error = {0};
    int status;

    if (!session->eal_started)
        status = set_error(&error, -ENOTCONN, "request", "nothing is open");
    else
        status = request_link(json, &session->config, &request, &error);
    if (status == 0)
        status = ports_set_link(&session->ports, &request, &error);
    if (status == 0)
        send_message(session, message_link(id, &session->ports, &request));
    else
        refuse(session, id, &error, false);
}

/* Only between trials, when no worker has the queues. */
static void
resolve(struct session *session, int64_t id, const json_t *json)
{
    struct resolve_request request = {0};
    struct error error = {0};
    int status = 0;

    if (!session->eal_started)
        status = set_error(&error, -ENOTCONN, "request", "nothing is open");
    else
        status = request_resolve(json, &session->config, &request, &error);
    if (status != 0) {
        refuse(session, id, &error, false);
        return;
    }
    idle_ports_resolve(&session->idle, &session->ports, &request, peer_gone, session);
    send_message(session, message_resolved(id, &session->ports.neighbours));
}

/*
 * Answers one request; true when it was a stop. While a trial runs nothing else is taken but
 * new rates, switches of captures, and links taken down or brought up.
 */
static bool
answer(struct session *session, const char *line)
{
    struct error error = {0};
    enum request_kind kind = REQUEST_STOP;
    int64_t id = -1;
    bool stop = false;
    json_t *json = parse(session, line);

    if (!json)
        return false;
    if (request_head(json, &id, &kind, &error) != 0 ||
        (kind == REQUEST_STOP && request_stop(json, &error) != 0)) {
        refuse(session, id, &error, false);
    } else if (kind == REQUEST_STOP) {
        send_message(session, message_stopping(id));
        stop = true;
    } else if (kind == REQUEST_RATES) {
        change_rates(session, id, json);
    } else if (kind == REQUEST_CAPTURE) {
        switch_capture(session, id, json);
    } else if (kind == REQUEST_LINK) {
        set_link(session, id, json);
    } else if (session->trial_id >= 0) {
        set_error(&error, -EBUSY, "request", "a trial is running; stop it first");
        refuse(session, id, &error, false);
    } else if (kind == REQUEST_OPEN) {
        open_ports(session, id, json);
    } else if (kind == REQUEST_RESOLVE) {
        resolve(session, id, json);
    } else {
        if (read_trial(session, id, json))
            run_trial(session, id);
        trial_request_clear(&session->trial_request);
    }
    json_decref(json);
    return stop;
}

/* Waits for one line and answers it; true when the sending of a trial should stop. */
static bool
listen_once(struct session *session, int timeout_ms)
{
    struct error error = {0};
    char *line;

    switch (line_reader_next(&session->reader, timeout_ms, &line)) {
    case LINE_READY:
        return answer(session, line);
    case LINE_TOO_LONG:
        set_error(&error, -E2BIG, "", "a line is longer than %u bytes", LINE_MAX_BYTES);
        refuse(session, -1, &error, false);
        return false;
    case LINE_WITH_NUL:
        set_error(&error, -EINVAL, "", "a line holds a NUL byte");
        refuse(session, -1, &error, false);
        return false;
    case LINE_END:
        session->over = true;
        return true;
    case LINE_NONE:
        break;
    }
    return false;
}

static bool
listen_during_trial(void *context, struct trial *trial, int milliseconds)
{
    struct session *session = context;
    bool stop;

    session->waiting = trial;
    stop = listen_once(session, milliseconds);
    session->waiting = NULL;
    return stop || session->over || end_requested;
}

/* Waits for a request; where a port has a host, that goes on answering. */
static void
listen_between_trials(struct session *session)
{
    const bool hosts = session->eal_started && idle_ports_have_hosts(&session->ports);

    if (hosts)
        idle_ports_serve(&session->idle, &session->ports);
    listen_once(session, hosts ? IDLE_LOOK_MS : 1000);
}

int
session_run(int in_fd, int out_fd)
{
    struct session *session = calloc(1, sizeof(*session));
    int exit_status = EXIT_FAILURE;

    if (!session || line_reader_open(&session->reader, in_fd) != 0)
        goto out;
    session->out_fd = out_fd;
    session->trial_id = -1;
    session->started = clock_reading_take();
    send_message(session, message_hello());
    while (!session->over && !end_requested)
        listen_between_trials(session);
    /*
     * Without rte_eal_cleanup(): it unmaps memory while EAL's interrupt thread goes through
     * sources that lie there, for memif leaves its listener registered (seen in 22.11 as SIGSEGV
     * at one end in some 25). The process's end releases all that it would.
     */
    ports_close(&session->ports);
    exit_status = session->exit_status;
    line_reader_close(&session->reader);
out:
    free(session);
    return exit_status;
}
