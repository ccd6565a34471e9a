/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latencies counted by whole microsecond, the form in which the one-in-flight latency
 * of DPDK pods is published (Red Hat, "DPDK latency in OpenShift").
 */
#ifndef PLIMSOLL_MICROSECONDS_H
#define PLIMSOLL_MICROSECONDS_H

#include <stdint.h>

#define MICROSECONDS_MAX 1000 /* the last bucket holds a millisecond and more */

struct microseconds {
    uint64_t frames[MICROSECONDS_MAX + 1];
};

static inline void
microseconds_record_many(struct microseconds *counts, uint64_t ns, uint32_t frames)
{
    const uint64_t us = ns / 1000;

    counts->frames[us < MICROSECONDS_MAX ? us : MICROSECONDS_MAX] += frames;
}

static inline void
microseconds_add(struct microseconds *into, const struct microseconds *from)
{
    for (uint32_t us = 0; us <= MICROSECONDS_MAX; us++)
        into->frames[us] += from->frames[us];
}

#endif
