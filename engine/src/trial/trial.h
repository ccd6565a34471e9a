/* SPDX-License-Identifier: Apache-2.0 */
/* One trial, driven by the main thread, which sleeps while the workers poll. */
#ifndef PLIMSOLL_TRIAL_H
#define PLIMSOLL_TRIAL_H

#include "config/capture_request.h"
#include "config/error.h"
#include "config/open_request.h"
#include "config/rates_request.h"
#include "config/trial_request.h"
#include "dataplane/loop/run.h"
#include "dataplane/time/probe_stamps.h"
#include "ports/ports.h"
#include "trial/captures.h"
#include "trial/clocks/clock_log.h"
#include "trial/cpu_times.h"
#include "trial/idle_ports.h"
#include "trial/stream_ends.h"

enum ended_by {
    ENDED_BY_DURATION,
    ENDED_BY_STOP,
    ENDED_BY_LINK_DOWN,
    ENDED_BY_LOSSES,
    ENDED_BY_STREAMS
};

/* What one stream did in an interval, or in the trial; `missing` as the protocol has it. */
struct stream_counts {
    struct stream_counters frames;
    int64_t missing;
    struct histogram latency, latency_across_stalls, latency_less_stalls, lateness;
    struct delayed_ends delayed_ends;
    struct microseconds microseconds;
    struct worst_latencies worst;
    struct loss_events losses;
    struct refusals refusals;
    uint64_t stamp_outcomes[PROBE_OUTCOMES]; /* of a stream that its ports stamp */
    uint64_t stamp_error;                    /* ticks: the largest bound on a latency's error */
};

struct port_counts {
    uint64_t foreign[FOREIGN_KINDS];
    uint64_t host[HOST_COUNTERS]; /* all 0 where the port has none */
    uint64_t stale, truncated, rx_missed, rx_errors, rx_no_mbuf;
    uint32_t buffers_in_use; /* when read: in queues, in workers' hands, or lost */
    bool link_up;
};

struct worker_counts {
    struct stall_tally stalls;
    struct cycle_meter cycles;
};

struct counts {
    struct stream_counts streams[STREAMS_MAX];
    struct port_counts ports[PORTS_MAX];
    struct worker_counts workers[WORKERS_MAX];
};

/* What happened from `begin` to `end` (TSC): as many counts as the trial has of each kind. */
struct interval {
    uint32_t index;
    bool draining;
    uint64_t begin;
    uint64_t end;
    uint64_t end_unix_ns;
    const struct stream_counts *streams;
    const struct port_counts *ports;
    const struct worker_counts *workers;
};

struct trial {
    const struct trial_request *request;
    const struct open_request *config;
    struct ports *ports;
    struct run *run;
    struct captures *captures;
    struct counts interval;
    struct counts total;
    const struct flow_counts *flows[STREAMS_MAX]; /* at the end; NULL: not counted by flow */
    struct rte_eth_stats before[PORTS_MAX];       /* hardware counters when the interval began */
    int64_t missing_before[STREAMS_MAX];          /* in all, when the interval began */
    uint32_t index;                               /* of the interval that closes next */
    bool polling;                                 /* the workers run */
    bool draining;
    bool stopped;            /* by request, after its streams had ended */
    uint64_t interval_begin; /* TSC */
    uint64_t interval_end;
    uint64_t begin_unix_ns;
    uint64_t end_unix_ns;
    double sending_s;
    struct clock_log clock;
    struct cpu_times cpu_times; /* while frames were sent */
    struct stream_ends ends;
    enum ended_by ended_by;
};

/* What the trial needs of its environment while it runs. */
struct trial_hooks {
    void *context;
    /* Called with trial->interval complete. */
    void (*interval)(void *context, const struct trial *trial);
    /* Called after the interval in which these streams, a bit for each, ended. */
    void (*ended)(void *context, const struct trial *trial, uint64_t streams);
    /*
     * Sleeps for about `milliseconds` or until a request comes; true to stop sending. It may
     * change the rates of `trial`, switch its captures, and take links down.
     */
    bool (*wait)(void *context, struct trial *trial, int milliseconds);
};

/*
 * Runs the trial to its end. Returns NULL after a error, without memory or where the file of a
 * capture cannot be made. The result, freed with trial_free(), has its totals; the last interval
 * went to the hook. `tsc_hz` is the TSC's true rate. What is in `idle` goes over to the trial.
 */
struct trial *trial_run(const struct trial_request *request, const struct open_request *config,
                        struct ports *ports, struct idle_ports *idle, double tsc_hz,
                        const struct trial_hooks *hooks, struct error *error);

void trial_free(struct trial *trial);

/*
 * Gives streams new rates, and returns when all workers have taken them over: between two of
 * their turns, so a stall of one is waited for. Returns the TSC then, or 0 when sending has
 * ended. Before the workers run, the streams are to begin with these rates at the trial's start,
 * which is then what is returned.
 */
uint64_t trial_change_rates(struct trial *trial, const struct rates_request *request);

/*
 * Switches a capture, which may go on with another file. Returns the TSC once all workers have seen
 * it and all that was captured before is in its file; 0 after a error, where the other file
 * cannot be made, and then nothing has changed.
 */
uint64_t trial_switch_capture(struct trial *trial, const struct capture_switch *change,
                              struct error *error);

/* The interval that closed last; its counts are the trial's own, until the next closes. */
struct interval trial_interval(const struct trial *trial);

/* Seconds of `tsc` since the trial's first intended send. */
double trial_seconds(const struct trial *trial, uint64_t tsc);

#endif
