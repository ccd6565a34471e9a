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
#include <time.h>

#include "dataplane/loop/rate_change.h"
#include "dataplane/loop/worker.h"
#include "ports/port_timesync.h"
#include "trial/collect.h"
#include "trial/loss_limits.h"
#include "trial/run_setup.h"

/* Time for every worker to have seen the start before the first frame is due. */
#define START_DELAY_S 0.001

static uint64_t
unix_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

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

/*
 * Sleeps until `deadline` (TSC) or a request to stop, which it returns. The main
 * thread wakes as seldom as it can: on a small machine it wakes on a worker's CPU.
 */
static bool
sleep_until(struct trial *trial, const struct trial_hooks *hooks, uint64_t deadline)
{
    for (uint64_t now = rte_rdtsc(); now < deadline; now = rte_rdtsc()) {
        const double ms = (double)(deadline - now) / trial->run->ticks_per_second * 1e3;

        if (hooks->wait(hooks->context, trial, (int)fmin(ceil(ms), 1000)))
            return true;
    }
    return false;
}

static void
start_sending(struct trial *trial)
{
    struct run *run = trial->run;
    uint64_t start;

    for (uint32_t i = 0; i < run->worker_count; i++)
        rte_eal_remote_launch(worker_loop, run->workers[i], run->workers[i]->lcore);
    start = rte_rdtsc() + ticks(trial, START_DELAY_S);
    trial->begin_unix_ns = unix_ns() + (uint64_t)(START_DELAY_S * 1e9);
    trial->interval_begin = start;
    run->send_until = start + ticks(trial, trial->request->duration_s);
    atomic_store_explicit(&run->start, start, memory_order_release);
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
    trial->interval_end = rte_rdtsc();
    trial->end_unix_ns = unix_ns();
    clock_log_offer(&trial->clock, clock_reading_take());
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
stop_sending(struct trial *trial, enum ended_by why)
{
    atomic_store_explicit(&trial->run->send_until, rte_rdtsc(), memory_order_relaxed);
    trial->ended_by = why;
}

/* The next interval's end: an end closer than half a step to the last one is that one. */
static uint64_t
next_end(uint64_t begin, uint64_t step, uint64_t last)
{
    return begin + step + step / 2 > last ? last : begin + step;
}

uint64_t
trial_change_rates(struct trial *trial, const struct rates_request *request)
{
    if (trial->draining)
        return 0;
    rate_change_give(trial->run, request);
    return rte_rdtsc();
}

/* Returns once all workers have seen it, and what came before is in the file. */
static void
set_capture(struct trial *trial, uint32_t number, bool on)
{
    static const struct rates_request no_rates = {0};

    captures_switch(trial->captures, number, on);
    /* Once the workers have taken over that no rate changes, they have seen the switch, too. */
    rate_change_give(trial->run, &no_rates);
    write_captures(trial);
}

uint64_t
trial_switch_capture(struct trial *trial, const struct capture_switch *change,
                     struct complaint *complaint)
{
    if (change->path[0] != '\0') {
        struct pcap_file *file = captures_make_file(trial->captures, change, complaint);

        if (!file)
            return 0;
        set_capture(trial, change->capture, false);
        captures_use_file(trial->captures, change->capture, file);
    }
    set_capture(trial, change->capture, change->on);
    return rte_rdtsc();
}

static void
send_for_duration(struct trial *trial, const struct trial_hooks *hooks)
{
    struct loss_limits losses = {0};
    const uint64_t step = ticks(trial, trial->request->interval_s);
    const uint64_t last = trial->run->send_until;

    trial->ended_by = ENDED_BY_DURATION;
    for (uint64_t end = next_end(trial->interval_begin, step, last);;
         end = next_end(end, step, last)) {
        if (sleep_until(trial, hooks, end)) {
            stop_sending(trial, ENDED_BY_STOP);
            break;
        }
        if (any_link_lost(trial)) {
            stop_sending(trial, ENDED_BY_LINK_DOWN);
            break;
        }
        if (end == last)
            break;
        close_interval(trial, hooks);
        if (loss_limits_exceeded(&losses, trial)) {
            stop_sending(trial, ENDED_BY_LOSSES);
            break;
        }
    }
    cpu_times_end(&trial->cpu_times);
    /* Stopped before the start it never sent. */
    trial->sending_s = fmax(0, trial_seconds(trial, trial->run->send_until));
    close_interval(trial, hooks);
}

static void
drain(struct trial *trial, const struct trial_hooks *hooks)
{
    const uint64_t end = rte_rdtsc() + ticks(trial, trial->request->drain_s);

    trial->draining = true;
    /* Requested to stop once more, or left by the peer: there is nothing to drain for. */
    sleep_until(trial, hooks, end);
    close_interval(trial, hooks);
}

static void
end_workers(struct trial *trial)
{
    atomic_store_explicit(&trial->run->stop, true, memory_order_relaxed);
    rte_eal_mp_wait_lcore();
}

/* Fills in what workers share and write; false after a complaint. */
static bool
set_up(struct trial *trial, double tsc_hz, struct complaint *complaint)
{
    trial->captures = captures_make(trial->request, complaint);
    if (!trial->captures)
        return false;
    if (ports_timesync_begin(trial->ports, complaint) != 0)
        goto discard;
    trial->run = run_make(trial->request, trial->config, trial->ports, tsc_hz);
    if (trial->run && captures_attach(trial->captures, trial->run))
        return true;
    complain(complaint, -ENOMEM, "streams", "no memory for the trial's state");
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
    start_sending(trial);
    send_for_duration(trial, hooks);
    drain(trial, hooks);
    end_workers(trial);
    clock_log_end(&trial->clock, clock_reading_take());
    write_captures(trial);
    collect_end(trial);
}

struct trial *
trial_run(const struct trial_request *request, const struct open_request *config,
          struct ports *ports, struct idle_ports *idle, double tsc_hz,
          const struct trial_hooks *hooks, struct complaint *complaint)
{
    struct trial *trial = calloc(1, sizeof(*trial));

    if (!trial) {
        complain(complaint, -ENOMEM, "streams", "no memory for the trial");
        return NULL;
    }
    trial->request = request;
    trial->config = config;
    trial->ports = ports;
    if (!set_up(trial, tsc_hz, complaint)) {
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
