/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a running trial and who may write which part of it.
 *
 * Each worker (one lcore, one polling loop) alone writes its own streams, queues and
 * stall meter. What it counts goes into the open one of two pages; when the main
 * thread raises run.epoch, the worker turns to the other page and reports the epoch
 * back, and from then on until the next turn the closed page is the main thread's to
 * read and clear. No counter is ever shared, and the loop pays one load.
 *
 * New rates go the other way: the main thread writes run.rates and raises run.rates_epoch;
 * each worker takes those of its own streams over between two turns and reports that epoch
 * back, and only when all have is the page written again. From then on until the next rates
 * the main thread may read when the streams began.
 */
#ifndef PLIMSOLL_RUN_H
#define PLIMSOLL_RUN_H

#include <rte_common.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/host.h"
#include "config/limits.h"
#include "config/rates_request.h"
#include "config/stream_request.h"
#include "dataplane/frames/foreign.h"
#include "dataplane/frames/frame_check.h"
#include "dataplane/frames/frame_fields.h"
#include "dataplane/frames/host_frames.h"
#include "dataplane/measures/delayed_ends.h"
#include "dataplane/measures/flow_counts.h"
#include "dataplane/measures/histogram.h"
#include "dataplane/measures/loss_events.h"
#include "dataplane/measures/microseconds.h"
#include "dataplane/measures/refusals.h"
#include "dataplane/measures/sequence.h"
#include "dataplane/measures/stream_counters.h"
#include "dataplane/measures/worst_latencies.h"
#include "dataplane/schedule/flight.h"
#include "dataplane/schedule/pacer.h"
#include "dataplane/schedule/send_window.h"
#include "dataplane/time/cycle_meter.h"
#include "dataplane/time/overdue.h"
#include "dataplane/time/queue_hold.h"
#include "dataplane/time/stall.h"
#include "dataplane/time/stall_ring.h"
#include "dataplane/time/tester_delay.h"

#define NO_STREAM UINT8_MAX
#define STREAM_ENDLESS UINT64_MAX

struct rte_mempool;
struct stamping;

struct tx_page {
    struct tx_counters frames;
    struct histogram lateness; /* ns */
    struct refusals refusals;
};

struct rx_page {
    struct rx_counters frames;
    uint64_t expected;                      /* sequence.expected when the page was closed */
    uint64_t missing;                       /* sequence.missing then */
    struct histogram latency;               /* ns, of frames that no stall can have delayed */
    struct histogram latency_across_stalls; /* of the others, as measured */
    struct histogram latency_less_stalls; /* of the same, less the most that stalls delayed them */
    struct delayed_ends delayed_ends;     /* which of these two belong together */
    struct microseconds microseconds;     /* of `latency`, latency streams only */
    struct worst_latencies worst;
    struct loss_events losses; /* seen on this page, of a sole queue only */
    struct late_ranges late;   /* numbers missing on an earlier page */
};

struct port_page {
    uint64_t foreign[FOREIGN_KINDS];
    uint64_t host[HOST_COUNTERS];
    uint64_t stale, truncated;
};

/* A frame of the stream as it is before fields and signature are written. */
struct tx_template {
    uint32_t bytes;
    uint64_t mbuf_flags; /* what the port is to do with it; 0 but for frames that it stamps */
    const uint8_t *frame;
    struct frame_fields fields;
};

/* A stream's sending side. */
struct tx_stream {
    alignas(RTE_CACHE_LINE_SIZE) struct pacer pacer;
    uint64_t next_sequence;
    uint64_t frames_left;
    uint64_t until;    /* TSC: no frame is due from then on; STREAM_ENDLESS: for as long as sent */
    uint64_t over_at;  /* TSC: what was due before `until` is sent or skipped by then */
    uint32_t position; /* in the order of templates */
    uint16_t stream;
    uint16_t dpdk_port;
    uint16_t queue;
    uint16_t burst_limit; /* frames sent at once */
    enum stream_role role;
    enum pacing_kind pacing;
    uint32_t template_count;
    uint32_t order_count; /* 0: the templates take turns */
    bool short_signature;
    bool windowed; /* it has a window; else it sends all the time */
    struct rte_mempool *pool;
    struct tx_template *templates;
    const struct stream_request *request;
    struct flight *flight;     /* NULL unless one in flight */
    struct stamping *stamping; /* NULL unless ports stamp it */
    struct field_counters counters;
    struct tx_page pages[2];
    struct send_window window;
    double rate_pps;           /* with which it begins, where it has one */
    double duration_s;         /* from its begin to its end; 0: without end */
    uint64_t begin_at;         /* TSC */
    _Atomic uint64_t ended_at; /* TSC; 0: it has not */
};

/* What one receive queue sees of a stream. */
struct rx_stream {
    alignas(RTE_CACHE_LINE_SIZE) const struct worker *sender;
    struct catch_up *catch_up; /* of the queue and that sender, or NULL: see tester_delay() */
    struct flight *flight;
    struct stamping *stamping;
    struct flow_counts *flows; /* NULL: not counted by flow */
    enum stream_role role;
    bool checked;                 /* its frames' checksums are looked at */
    enum frame_cover least_cover; /* what all its frames have when they are sent */
    bool sole_queue;              /* a gap that one queue of several sees need not be a loss */
    uint64_t newest_stamp;        /* of the frame with the highest number seen */
    struct rx_page pages[2];
    struct sequence sequence;
};

struct capture_ring;
struct tx_mailbox;
struct worker;

struct rx_queue {
    uint16_t port;
    uint16_t dpdk_port;
    uint16_t queue;
    const struct port_clock *clock; /* of the port's own stamps, or NULL */
    struct capture_ring *capture;   /* NULL: its frames are not captured */
    int stamp_offset;
    uint64_t stamp_flag;
    bool port_sums;             /* the port checks checksums itself, and says so of each frame */
    const struct host *host;    /* whom frames on the port may be for; NULL for none */
    struct tx_mailbox *answers; /* of the host, to be sent by `sender` */
    struct worker *sender;
    struct queue_hold hold;
    struct catch_up catch_ups[WORKERS_MAX]; /* of each sender */
    struct rx_stream *streams[STREAMS_MAX]; /* NULL: the stream comes in elsewhere */
};

struct run;

struct worker {
    alignas(RTE_CACHE_LINE_SIZE) struct run *run;
    uint32_t cpu;
    uint32_t lcore;
    uint32_t tx_stream_count;
    uint32_t rx_queue_count;
    struct tx_stream *tx_streams[STREAMS_MAX];
    struct rx_queue *rx_queues;
    _Atomic uint64_t last_look; /* at the clock, TSC */
    struct overdue overdue;
    uint32_t turn;
    uint32_t open_page; /* 0 or 1 */
    _Atomic uint32_t epoch;
    _Atomic uint32_t rates_epoch;
    _Atomic bool has_post;        /* a host's answers wait to be sent by this worker */
    struct stall_ring stall_ring; /* of a worker that sends */
    struct stall_tally stalls[2];
    struct cycle_meter cycles[2];
    struct stray_counters strays[2][STREAMS_MAX];
    struct port_page ports[2][PORTS_MAX];
    uint8_t gathered[RECEIVED_MAX_BYTES]; /* a frame in segments, to be checked */
};

/* Shared by all; after the start only the main thread writes, and rarely. */
struct run {
    alignas(
        RTE_CACHE_LINE_SIZE) _Atomic uint64_t start; /* TSC of the first intended send; 0 before */
    _Atomic uint64_t send_until;
    _Atomic uint32_t epoch;
    _Atomic uint32_t rates_epoch;
    _Atomic bool stop;
    uint16_t mark;
    bool checks_frames;    /* beyond their signatures */
    bool short_signatures; /* some stream has them */
    uint64_t gap_ticks;    /* shorter gaps between two looks at the clock are not recorded */
    uint64_t stall_ticks;
    uint64_t patience_ticks;
    uint64_t refusal_gap_ticks; /* refusals closer than this are one event */
    uint64_t spike_ticks;       /* longer latencies are spikes, or NO_SPIKE */
    uint32_t worst_limit;       /* latencies kept of a stream and page */
    double ticks_per_second;
    uint64_t ns_per_tick; /* << 32 */
    uint32_t stream_count;
    uint32_t worker_count;
    struct tx_stream *tx_streams[STREAMS_MAX];
    struct worker *workers[WORKERS_MAX];
    uint8_t stream_index[UINT16_MAX + 1]; /* stream number to index, or NO_STREAM */
    struct rates_request rates;           /* those that workers take over, by index */
    struct neighbours *neighbours;        /* as they were when the trial began */
};

static inline uint64_t
ticks_to_ns(const struct run *run, uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * run->ns_per_tick >> 32);
}

static inline bool
worker_is_metered(const struct worker *worker)
{
    return worker->turn % METERED_TURNS == 0;
}

#endif
