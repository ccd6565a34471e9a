/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/held_intervals.h"

#include <stdlib.h>
#include <string.h>

/* Two minutes of four streams in intervals of a second, and as much again. */
#define HELD_BYTES_MAX (UINT64_C(128) << 20)

struct held_interval {
    struct held_interval *next;
    struct interval interval; /* points into `counts` */
    alignas(max_align_t) char counts[];
};

/* Copies `count` elements to `*at`, moves it behind them and returns where they are now. */
static const void *
put(char **at, const void *from, size_t count, size_t size)
{
    void *to = *at;

    memcpy(to, from, count * size);
    *at += count * size;
    return to;
}

static size_t
bytes_of(const struct trial *trial)
{
    return sizeof(struct held_interval) +
           trial->request->stream_count * sizeof(struct stream_counts) +
           trial->ports->count * sizeof(struct port_counts) +
           trial->config->worker_count * sizeof(struct worker_counts);
}

static struct held_interval *
copy(const struct trial *trial)
{
    struct held_interval *held = malloc(bytes_of(trial));
    char *at;

    if (!held)
        return NULL;
    held->next = NULL;
    held->interval = trial_interval(trial);
    at = held->counts;
    held->interval.streams = put(&at, trial->interval.streams, trial->request->stream_count,
                                 sizeof(struct stream_counts));
    held->interval.ports =
        put(&at, trial->interval.ports, trial->ports->count, sizeof(struct port_counts));
    held->interval.workers = put(&at, trial->interval.workers, trial->config->worker_count,
                                 sizeof(struct worker_counts));
    return held;
}

/* Whether a stream that sends came back with nothing at all: its losses leave no gap. */
static bool
any_silent(const struct trial *trial)
{
    for (uint32_t i = 0; i < trial->request->stream_count; i++) {
        const struct stream_counters *frames = &trial->interval.streams[i].frames;

        if (frames->tx.sent + frames->tx.refused > 0 && frames->rx.received == 0)
            return true;
    }
    return false;
}

static uint64_t
lost_in(const struct trial *trial)
{
    uint64_t lost = 0;

    for (uint32_t i = 0; i < trial->request->stream_count; i++) {
        const struct stream_counts *counts = &trial->interval.streams[i];

        lost += (uint64_t)counts->missing + counts->frames.tx.refused;
    }
    return lost;
}

/* Late frames fill gaps, so that for a moment less than nothing may be lost. */
static bool
too_many_lost(const struct held_intervals *held)
{
    return (int64_t)held->lost > 0 && held->lost > held->wake_at;
}

static bool
is_due(const struct held_intervals *held, const struct trial *trial)
{
    const struct hold_request *hold = &trial->request->hold;
    const uint64_t since = held->first ? held->first->interval.begin : trial->interval_begin;
    const double waited_s = (double)(trial->interval_end - since) / trial->run->ticks_per_second;

    return waited_s >= hold->seconds || held->bytes >= HELD_BYTES_MAX || too_many_lost(held) ||
           (!trial->draining && any_silent(trial));
}

void
held_intervals_open(struct held_intervals *held, const struct hold_request *request)
{
    *held = (struct held_intervals){.wake_at = request->lost_frames};
    held->end = &held->first;
}

enum held_state
held_intervals_add(struct held_intervals *held, const struct trial *trial)
{
    struct held_interval *copied;

    /* Late frames fill gaps, so an interval's part may be less than nothing: modulo 2^64. */
    held->lost += lost_in(trial);
    if (trial->request->hold.seconds <= 0)
        return HELD_NOT;
    copied = copy(trial);
    if (!copied)
        return HELD_NOT;
    *held->end = copied;
    held->end = &copied->next;
    held->bytes += bytes_of(trial);
    if (!is_due(held, trial))
        return HELD;
    /* Whoever wakes makes more frames lost: next time it must be worth it again. */
    if (too_many_lost(held))
        held->wake_at = 2 * held->lost;
    return HELD_DUE;
}

void
held_intervals_hand_over(struct held_intervals *held,
                         void (*hand_over)(void *context, const struct interval *interval),
                         void *context)
{
    struct held_interval *next;

    for (struct held_interval *each = held->first; each; each = next) {
        next = each->next;
        hand_over(context, &each->interval);
        free(each);
    }
    held->first = NULL;
    held->end = &held->first;
    held->bytes = 0;
}
