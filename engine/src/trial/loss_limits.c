/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/loss_limits.h"

/*
 * How generously a stall excuses. What it really explains is for the driver to judge, who
 * knows the queues; a trial ended here is not to be one that would have been excused.
 */
#define EXCUSES 2

/* The share of the interval for which the loop that was away longest was away. */
static double
stalled_share(const struct trial *trial)
{
    const uint64_t length = trial->interval_end - trial->interval_begin;
    uint64_t stalled = 0;

    for (uint32_t i = 0; i < trial->config->worker_count; i++) {
        if (trial->interval.workers[i].stalls.stalled > stalled)
            stalled = trial->interval.workers[i].stalls.stalled;
    }
    return length > 0 ? (double)stalled / (double)length : 0;
}

/*
 * What a stream lost in the interval. Frames that had an interval to come back in, while
 * none did, count as lost until the next that comes shows which of them left gaps.
 */
static int64_t
lost_by(struct silence *silence, const struct stream_counts *counts)
{
    const int64_t before = silence->lost;

    if (counts->frames.rx.received > 0) {
        *silence = (struct silence){0};
    } else {
        silence->lost += silence->unanswered;
        silence->unanswered = (int64_t)counts->frames.tx.sent;
    }
    return counts->missing + silence->lost - before;
}

static void
count(struct loss_count *count, int64_t lost, int64_t excusable)
{
    const int64_t budget = count->left_over + excusable;
    const int64_t spent = lost <= 0 ? 0 : lost < budget ? lost : budget;

    count->lost += lost;
    count->excused += spent;
    count->left_over = budget - spent < excusable ? budget - spent : excusable;
}

/* The limit's part of what the streams `lost` in the interval, and what stalls may excuse of it. */
static void
add_interval(struct loss_count *counted, const struct loss_limit *limit, const struct trial *trial,
             const int64_t *lost, double excused_share)
{
    int64_t lost_together = 0;
    uint64_t sent = 0;

    for (uint32_t i = 0; i < trial->request->stream_count; i++) {
        const struct tx_counters *tx = &trial->interval.streams[i].frames.tx;

        if (!(limit->streams & (UINT64_C(1) << i)))
            continue;
        lost_together += lost[i] + (limit->refused ? (int64_t)tx->refused : 0);
        sent += tx->sent;
    }
    count(counted, lost_together, (int64_t)((double)sent * excused_share));
}

bool
loss_limits_exceeded(struct loss_limits *limits, const struct trial *trial)
{
    const double excused_share = EXCUSES * stalled_share(trial);
    int64_t lost[STREAMS_MAX];
    bool exceeded_twice = false;

    for (uint32_t i = 0; i < trial->request->stream_count; i++)
        lost[i] = lost_by(&limits->silences[i], &trial->interval.streams[i]);
    for (uint32_t i = 0; i < trial->request->loss_limit_count; i++) {
        const struct loss_limit *limit = &trial->request->loss_limits[i];
        struct loss_count *counted = &limits->counts[i];
        bool exceeded;

        add_interval(counted, limit, trial, lost, excused_share);
        exceeded = counted->lost - counted->excused > limit->frames;
        exceeded_twice |= exceeded && counted->exceeded;
        counted->exceeded = exceeded;
    }
    return exceeded_twice;
}
