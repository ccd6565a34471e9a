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

static bool
is_due(const struct held_intervals *held, const struct trial *trial)
{
    const uint64_t since = held->first->interval.begin;
    const double waited_s = (double)(trial->interval_end - since) / trial->run->ticks_per_second;

    return waited_s >= trial->request->hold_s || held->bytes >= HELD_BYTES_MAX;
}

void
held_intervals_open(struct held_intervals *held)
{
    *held = (struct held_intervals){.end = &held->first};
}

enum held_state
held_intervals_add(struct held_intervals *held, const struct trial *trial)
{
    struct held_interval *copied;

    if (trial->request->hold_s <= 0)
        return HELD_NOT;
    copied = copy(trial);
    if (!copied)
        return HELD_NOT;
    *held->end = copied;
    held->end = &copied->next;
    held->bytes += bytes_of(trial);
    return is_due(held, trial) ? HELD_DUE : HELD;
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
