/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream's longest latencies, each with what one must know to find out why: when the
 * frames were sent and received, and which they were. Frames of one burst that came
 * together share stamp and latency, so they are one entry.
 *
 * It keeps the `limit` longest, and further ones from `spike` on while there is room: a
 * heap with the shortest at the root, so that most latencies are turned away by one
 * comparison. Times are TSC ticks.
 */
#ifndef PLIMSOLL_WORST_LATENCIES_H
#define PLIMSOLL_WORST_LATENCIES_H

#include <stdbool.h>
#include <stdint.h>

/* As many as a trial's result lists, spikes included; an interval event lists fewer. */
#define WORST_LATENCIES_MAX 256
/* The most that a request can ask for without a threshold. */
#define WORST_LIMIT_MAX 64
#define NO_SPIKE UINT64_MAX

struct worst_latency {
    uint64_t latency;
    uint64_t received_at;
    uint64_t sequence; /* of the first of its frames */
    uint32_t frames;
    uint64_t delay; /* the most of it that stalls of ours took */
};

struct worst_latencies {
    uint64_t floor; /* only longer ones need to be looked at */
    uint64_t spike; /* latencies of this and more are spikes, or NO_SPIKE */
    uint64_t spike_frames;
    uint32_t limit;
    uint32_t count;
    struct worst_latency worst[WORST_LATENCIES_MAX];
};

/* Empty, for the `limit` longest and for spikes; `spike` is at least 1. */
void worst_latencies_open(struct worst_latencies *list, uint32_t limit, uint64_t spike);

/* Whether one of so many ticks has to be given to worst_latencies_keep(). */
static inline bool
worst_latencies_wants(const struct worst_latencies *list, uint64_t latency)
{
    return latency > list->floor;
}

void worst_latencies_keep(struct worst_latencies *list, struct worst_latency worst);

/* Adds `from` to `into`, keeping the longest of both. */
void worst_latencies_add(struct worst_latencies *into, const struct worst_latencies *from);

/* Orders the list, longest first; nothing can be recorded or added to it any more. */
void worst_latencies_sort(struct worst_latencies *list);

#endif
