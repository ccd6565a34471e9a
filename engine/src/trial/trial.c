/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial.h"

#include <errno.h>
#include <math.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/loop/rate_change.h"
#include "dataplane/loop/worker.h"
#include "ports/port_timesync.h"
#include "trial/collect.h"
#include "trial/loss_limits.h"
#include "trial/run_setup.h"

/* Of a drain that may end early: the first wait for frames, each next one twice as long. */
#define FIRST_DRAIN_STEP_S 0.002

double
trial_seconds(const struct trial *trial, uint64_t tsc)
{
    const struct run *run = trial->run;

    return (double)(int64_t)(tsc - run->start) / run->ticks_per_second;
}

struct interval
trial_interval(const struct trial *trial)
{
    return (struct interval){
        .index = trial->index,
        .draining = trial->draining,
        .begin = trial->interval_begin,
        .end = trial->interval_end,
        .end_unix_ns = trial->end_unix_ns,
        .streams = trial->interval.streams,
        .ports = trial->interval.ports,
        .workers = trial->interval.workers,
    };
}

static uint64_t
ticks(const struct trial *trial, double seconds)
{
    return (uint64_t)llround(seconds * trial->run->ticks_per_second);
}

/* When to look which streams have ended, TSC; UINT64_MAX where that is of no interest. */
static uint64_t
next_look(const struct trial *trial)
{
    const struct trial_request *request = trial->request;

    if (trial->draining || !(request->report_ends || request->end_with_streams))
        return UINT64_MAX;
    return stream_ends_next(trial);
}

/*
 * Sleeps until `deadline` (TSC), the time to look after the streams' ends, or a request to stop,
 * which it returns. The main thread wakes as seldom as it can: on a small machine it wakes on a
 * worker's CPU.
 */
static bool
sleep_until(struct trial *trial, const struct trial_hooks *hooks, uint64_t deadline)
{
    for (uint64_t now = rte_rdtsc(), end; now < (end = RTE_MIN(deadline, next_look(trial)));
         now = rte_rdtsc()) {
        const double ms = (double)(end - now) / trial->run->ticks_per_second * 1e3;

        if (hooks->wait(hooks->context, trial, (int)fmin(ceil(ms), 1000)))
            return true;
    }
    return false;
}

/* Names the time of the first intended send; the workers have yet to run. */
static void
set_start(struct trial *trial)
{
    struct run *run = trial->run;
    const double delay_s = trial->request->begin_delay_s;
    const struct clock_reading now = clock_reading_take();
    const uint64_t start = rte_rdtsc() + ticks(trial, delay_s);

    trial->begin_unix_ns =
        now.unix_ns + (uint64_t)llround((double)(start - now.tsc) / run->ticks_per_second * 1e9);
    trial->interval_begin = start;
    atomic_store_explicit(&run->send_until, start + ticks(trial, trial->request->duration_s),
                          memory_order_relaxed);
    atomic_store_explicit(&run->start, start, memory_order_release);
    stream_ends_begin(trial);
}

/* Until then their CPUs are for others, such as those whose requests come in the meantime. */
static bool
launch_workers(struct trial *trial, const struct trial_hooks *hooks)
{
    struct run *run = trial->run;
    const bool stopped = sleep_until(trial, hooks, run->start - ticks(trial, BEGIN_DELAY_MIN_S));

    for (uint32_t i = 0; i < run->worker_count; i++)
        rte_eal_remote_launch(worker_loop, run->workers[i], run->workers[i]->lcore);
    trial->polling = true;
    return stopped;
}

static void
write_captures(struct trial *trial)
{
    struct clock_reading now;

    if (trial->captures->count == 0)
        return;
    now = clock_reading_take();
    captures_write(trial->captures, trial->run, &now);
}

static void
close_interval(struct trial *trial, const struct trial_hooks *hooks)
{
    const struct clock_reading now = clock_reading_take();

    trial->interval_end = now.tsc;
    trial->end_unix_ns = now.unix_ns;
    clock_log_offer(&trial->clock, now);
    ports_compare_clocks(trial->ports);
    collect_interval(trial);
    write_captures(trial);
    hooks->interval(hooks->context, trial);
    trial->interval_begin = trial->interval_end;
    trial->index++;
}

static bool
any_link_lost(const struct trial *trial)
{
    for (uint32_t i = 0; i < trial->ports->count; i++) {
        if (port_link_lost(&trial->ports->port[i]))
            return true;
    }
    return false;
}

/* Ends the sending now. */
static void
stop_sending(struct trial *trial)
{
    atomic_store_explicit(&trial->run->send_until, rte_rdtsc(), memory_order_relaxed);
}

/* The next interval's end: an end closer than half a step to the last one is that one. */
static uint64_t
next_end(uint64_t begin, uint64_t step, uint64_t last)
{
    return begin + step + step / 2 > last ? last : begin + step;
}

/* Before the workers run: with these the streams are to begin. */
static void
set_rates(struct run *run, const struct rates_request *request)
{
    for (uint32_t i = 0; i < run->stream_count; i++) {
        if (!(request->streams & (UINT64_C(1) << i)))
            continue;
        run->tx_streams[i]->rate_pps = request->rate_pps[i];
        run->tx_streams[i]->duration_s = request->duration_s[i];
    }
}

uint64_t
trial_change_rates(struct trial *trial, const struct rates_request *request)
{
    if (trial->draining)
        return 0;
    if (trial->polling)
        rate_change_give(trial->run, request);
    else
        set_rates(trial->run, request);
    stream_ends_change(trial, request);
    return trial->polling ? rte_rdtsc() : trial->run->start;
}

/* Returns once all workers have seen it, and what came before is in the file. */
static void
set_capture(struct trial *trial, uint32_t number, bool on)
{
    static const struct rates_request no_rates = {0};

    captures_switch(trial->captures, number, on);
    /* Once the workers have taken over that no rate changes, they have seen the switch, too. */
    if (trial->polling)
        rate_change_give(trial->run, &no_rates);
    write_captures(trial);
}

uint64_t
trial_switch_capture(struct trial *trial, const struct capture_switch *change, struct error *error)
{
    if (change->path[0] != '\0') {
        struct pcap_file *file = captures_make_file(trial->captures, change, error);

        if (!file)
            return 0;
        set_capture(trial, change->capture, false);
        captures_use_file(trial->captures, change->capture, file);
    }
    set_capture(trial, change->capture, change->on);
    return rte_rdtsc();
}

/* Looks which streams have ended, and tells of them; true where none is left to send for. */
static bool
look_after_ends(struct trial *trial, const struct trial_hooks *hooks)
{
    const uint64_t ended = stream_ends_take(trial);

    if (ended == 0)
        return false;
    if (trial->request->report_ends) {
        /* What they sent is counted before their end is reported. */
        close_interval(trial, hooks);
        hooks->ended(hooks->context, trial, ended);
    }
    return trial->request->end_with_streams && trial->ends.sending == 0;
}

/* Sends until something ends it, which it returns; intervals end on the way, but not the last. */
static enum ended_by
send_on(struct trial *trial, const struct trial_hooks *hooks)
{
    struct loss_limits losses = {0};
    const uint64_t step = ticks(trial, trial->request->interval_s);
    const uint64_t last = trial->run->send_until;
    uint64_t end = next_end(trial->run->start, step, last);

    for (;;) {
        if (sleep_until(trial, hooks, end))
            return ENDED_BY_STOP;
        if (any_link_lost(trial))
            return ENDED_BY_LINK_DOWN;
        if (rte_rdtsc() >= next_look(trial) && look_after_ends(trial, hooks))
            return ENDED_BY_STREAMS;
        if (rte_rdtsc() < end)
            continue;
        if (end == last)
            return ENDED_BY_DURATION;
        close_interval(trial, hooks);
        if (loss_limits_exceeded(&losses, trial))
            return ENDED_BY_LOSSES;
        end = next_end(end, step, last);
    }
}

static void
send_to_end(struct trial *trial, const struct trial_hooks *hooks, bool stopped)
{
    trial->ended_by = stopped ? ENDED_BY_STOP : send_on(trial, hooks);
    if (trial->ended_by != ENDED_BY_DURATION)
        stop_sending(trial);
    cpu_times_end(&trial->cpu_times);
    /* Stopped before the start it never sent. */
    trial->sending_s = fmax(0, trial_seconds(trial, trial->run->send_until));
    close_interval(trial, hooks);
}

/* Whether there is no frame to wait for any more. */
static bool
all_came_back(const struct trial *trial)
{
    for (uint32_t i = 0; i < trial->run->stream_count; i++) {
        const struct stream_counters *counts = &trial->total.streams[i].frames;
        const uint64_t came =
            counts->rx.received - counts->rx.duplicate + counts->strays.misdirected;

        if (came < counts->tx.sent)
            return false;
    }
    return true;
}

/*
 * A stop while nothing is sent any more, or a peer that left: there is nothing to drain for. But
 * one who has not heard yet that the streams have ended means to stop these.
 */
static bool
stopped_draining(struct trial *trial, const struct trial_hooks *hooks, uint64_t until)
{
    if (!sleep_until(trial, hooks, until))
        return false;
    if (trial->ended_by != ENDED_BY_STREAMS || trial->stopped)
        return true;
    trial->stopped = true;
    return sleep_until(trial, hooks, until);
}

static void
drain(struct trial *trial, const struct trial_hooks *hooks)
{
    const uint64_t end = rte_rdtsc() + ticks(trial, trial->request->drain_s);
    const bool early = trial->request->end_with_streams;
    bool over = early && all_came_back(trial);

    trial->draining = true;
    for (uint64_t step = ticks(trial, FIRST_DRAIN_STEP_S);; step *= 2) {
        const uint64_t until = early ? RTE_MIN(end, rte_rdtsc() + step) : end;

        over = over || stopped_draining(trial, hooks, until) || rte_rdtsc() >= end;
        close_interval(trial, hooks);
        if (over || all_came_back(trial))
            return;
    }
}

static void
end_workers(struct trial *trial)
{
    atomic_store_explicit(&trial->run->stop, true, memory_order_relaxed);
    rte_eal_mp_wait_lcore();
}

/* Fills in what workers share and write; false after a error. */
static bool
set_up(struct trial *trial, double tsc_hz, struct error *error)
{
    trial->captures = captures_make(trial->request, error);
    if (!trial->captures)
        return false;
    if (ports_timesync_begin(trial->ports, error) != 0)
        goto discard;
    trial->run = run_make(trial->request, trial->config, trial->ports, tsc_hz);
    if (trial->run && captures_attach(trial->captures, trial->run))
        return true;
    set_error(error, -ENOMEM, "streams", "no memory for the trial's state");
discard:
    captures_discard(trial->captures);
    trial->captures = NULL;
    return false;
}

/* Its workers are idle before and after. */
static void
poll_to_end(struct trial *trial, const struct trial_hooks *hooks)
{
    const struct trial_request *request = trial->request;

    collect_begin(trial);
    clock_log_begin(&trial->clock, clock_reading_take());
    cpu_times_begin(&trial->cpu_times, request->cpu_time_of, request->cpu_time_of_count);
    set_start(trial);
    send_to_end(trial, hooks, launch_workers(trial, hooks));
    drain(trial, hooks);
    end_workers(trial);
    clock_log_end(&trial->clock, clock_reading_take());
    write_captures(trial);
    collect_end(trial);
}

struct trial *
trial_run(const struct trial_request *request, const struct open_request *config,
          struct ports *ports, struct idle_ports *idle, double tsc_hz,
          const struct trial_hooks *hooks, struct error *error)
{
    struct trial *trial = calloc(1, sizeof(*trial));

    if (!trial) {
        set_error(error, -ENOMEM, "streams", "no memory for the trial");
        return NULL;
    }
    trial->request = request;
    trial->config = config;
    trial->ports = ports;
    if (!set_up(trial, tsc_hz, error)) {
        trial_free(trial);
        return NULL;
    }
    idle_ports_hand_over(idle, trial->run);
    poll_to_end(trial, hooks);
    return trial;
}

void
trial_free(struct trial *trial)
{
    if (!trial)
        return;
    captures_free(trial->captures);
    run_free(trial->run);
    free(trial);
}
