/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/worst_latencies.h"

#include <stdlib.h>

/* Puts `worst` where it belongs in the heap, from the free place `at` towards the root. */
static void
rise(struct worst_latencies *list, uint32_t at, struct worst_latency worst)
{
    for (; at > 0 && worst.latency < list->worst[(at - 1) / 2].latency; at = (at - 1) / 2)
        list->worst[at] = list->worst[(at - 1) / 2];
    list->worst[at] = worst;
}

/* Puts `worst` in the place of the root, and where it belongs from there. */
static void
sink(struct worst_latencies *list, struct worst_latency worst)
{
    uint32_t at = 0;

    for (uint32_t child = 1; child < list->count; child = 2 * at + 1) {
        if (child + 1 < list->count && list->worst[child + 1].latency < list->worst[child].latency)
            child++;
        if (worst.latency <= list->worst[child].latency)
            break;
        list->worst[at] = list->worst[child];
        at = child;
    }
    list->worst[at] = worst;
}

/* Spikes are counted even when the list is full, so the floor never rises to them. */
static void
set_floor(struct worst_latencies *list)
{
    const uint64_t below_spike = list->spike - 1;

    if (list->count < list->limit)
        list->floor = 0;
    else if (list->count == 0 || list->worst[0].latency > below_spike)
        list->floor = below_spike;
    else
        list->floor = list->worst[0].latency;
}

void
worst_latencies_open(struct worst_latencies *list, uint32_t limit, uint64_t spike)
{
    list->spike = spike;
    list->spike_frames = 0;
    list->limit = limit;
    list->count = 0;
    set_floor(list);
}

/*
 * Beyond the limit the list grows by spikes only, and only when all that it holds are
 * spikes: until then one of the others makes room.
 */
static void
place(struct worst_latencies *list, struct worst_latency worst)
{
    const bool all_spikes = list->count == 0 || list->worst[0].latency >= list->spike;
    const bool grows = list->count < list->limit || (all_spikes && worst.latency >= list->spike);

    if (grows && list->count < WORST_LATENCIES_MAX)
        rise(list, list->count++, worst);
    else if (list->count > 0 && worst.latency > list->worst[0].latency)
        sink(list, worst);
    set_floor(list);
}

void
worst_latencies_keep(struct worst_latencies *list, struct worst_latency worst)
{
    if (worst.latency >= list->spike)
        list->spike_frames += worst.frames;
    place(list, worst);
}

void
worst_latencies_add(struct worst_latencies *into, const struct worst_latencies *from)
{
    into->spike_frames += from->spike_frames;
    for (uint32_t i = 0; i < from->count; i++)
        place(into, from->worst[i]);
}

/* Of equal ones the earlier first, so that the order is always the same. */
static int
longer_first(const void *a, const void *b)
{
    const struct worst_latency *left = a, *right = b;

    if (left->latency != right->latency)
        return left->latency < right->latency ? 1 : -1;
    return (left->received_at > right->received_at) - (left->received_at < right->received_at);
}

void
worst_latencies_sort(struct worst_latencies *list)
{
    qsort(list->worst, list->count, sizeof(list->worst[0]), longer_first);
}
