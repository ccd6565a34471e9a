/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/flow_counts.h"

#include <stdlib.h>

#define CACHE_LINE_BYTES 64

/* Written whole, so that no page of it is first touched while a worker polls. */
static void
clear(struct flow_counts *counts)
{
    for (uint32_t i = 0; i < counts->count; i++) {
        counts->flows[i] = (struct flow_counter){.latency_min = UINT32_MAX};
        counts->duplicates[i] = 0;
    }
}

struct flow_counts *
flow_counts_make(uint32_t count, uint32_t first)
{
    struct flow_counts *counts = calloc(1, sizeof(*counts));

    if (!counts)
        return NULL;
    const uint32_t even = count + count % 2; /* to whole cache lines */

    counts->flows = aligned_alloc(CACHE_LINE_BYTES, even * sizeof(counts->flows[0]));
    counts->duplicates = malloc(count * sizeof(counts->duplicates[0]));
    counts->count = count;
    counts->first = counts->next_flow = first;
    if (!counts->flows || !counts->duplicates) {
        flow_counts_free(counts);
        return NULL;
    }
    clear(counts);
    return counts;
}

void
flow_counts_free(struct flow_counts *counts)
{
    if (!counts)
        return;
    free(counts->flows);
    free(counts->duplicates);
    free(counts);
}

/* Most numbers follow the last one closely, and need no division. */
static inline uint32_t
flow_of(const struct flow_counts *counts, uint64_t sequence)
{
    const uint64_t ahead = sequence - counts->next;

    if (__builtin_expect(ahead >= counts->count, 0))
        return (uint32_t)((counts->first + sequence) % counts->count);
    const uint32_t flow = counts->next_flow + (uint32_t)ahead;
    return flow < counts->count ? flow : flow - counts->count;
}

static inline void
note_latency(struct flow_counter *flow, uint64_t latency)
{
    const uint32_t bounded = latency < UINT32_MAX ? (uint32_t)latency : UINT32_MAX;

    flow->timed++;
    flow->latency_sum += latency;
    flow->latency_min = bounded < flow->latency_min ? bounded : flow->latency_min;
    flow->latency_max = bounded > flow->latency_max ? bounded : flow->latency_max;
}

void
flow_counts_note(struct flow_counts *counts, uint64_t sequence, uint32_t frames, uint64_t latency,
                 bool timed)
{
    uint32_t flow = flow_of(counts, sequence);

    for (uint32_t i = 0; i < frames; i++) {
        counts->flows[flow].received++;
        if (timed)
            note_latency(&counts->flows[flow], latency);
        flow = flow + 1 < counts->count ? flow + 1 : 0;
    }
    counts->next = sequence + frames;
    counts->next_flow = flow;
}

void
flow_counts_note_duplicate(struct flow_counts *counts, uint64_t sequence)
{
    counts->duplicates[flow_of(counts, sequence)]++;
}

void
flow_counts_add(struct flow_counts *into, const struct flow_counts *from)
{
    for (uint32_t i = 0; i < into->count; i++) {
        struct flow_counter *sum = &into->flows[i];
        const struct flow_counter *flow = &from->flows[i];

        sum->received += flow->received;
        sum->timed += flow->timed;
        sum->latency_sum += flow->latency_sum;
        sum->latency_min =
            flow->latency_min < sum->latency_min ? flow->latency_min : sum->latency_min;
        sum->latency_max =
            flow->latency_max > sum->latency_max ? flow->latency_max : sum->latency_max;
        into->duplicates[i] += from->duplicates[i];
    }
}

uint64_t
flow_counts_sent(const struct flow_counts *counts, uint64_t sent, uint32_t flow)
{
    const uint32_t turn = (flow + counts->count - counts->first) % counts->count;

    return sent / counts->count + (turn < sent % counts->count);
}
