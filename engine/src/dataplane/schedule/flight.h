/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One probe at a time: the next is due when the last came back or its time ran out.
 * The sender alone writes its side; the receivers only say which probe came back.
 */
#ifndef PLIMSOLL_FLIGHT_H
#define PLIMSOLL_FLIGHT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* `next_at` of a flight that is paused. */
#define FLIGHT_NEVER UINT64_MAX

struct flight {
    alignas(64) _Atomic uint64_t returned; /* one more than the highest number that came back */
    alignas(64) bool in_flight;
    uint64_t number;  /* of the probe in flight */
    uint64_t sent_at; /* TSC */
    uint64_t next_at; /* TSC, not before which the next is due */
    uint64_t timeout; /* ticks */
    uint64_t gap;     /* ticks between two sends at least; 0: none */
};

enum flight_state { FLIGHT_DUE, FLIGHT_WAITING, FLIGHT_TIMED_OUT };

/* Probe `number` came back. Several receivers may say so, of one probe at a time. */
static inline void
flight_land(struct flight *flight, uint64_t number)
{
    if (number >= atomic_load_explicit(&flight->returned, memory_order_relaxed))
        atomic_store_explicit(&flight->returned, number + 1, memory_order_release);
}

/* FLIGHT_TIMED_OUT is returned once for each probe; after it the next may be due at once. */
static inline enum flight_state
flight_look(struct flight *flight, uint64_t now)
{
    if (flight->in_flight) {
        const bool back =
            atomic_load_explicit(&flight->returned, memory_order_acquire) > flight->number;

        if (!back && now - flight->sent_at < flight->timeout)
            return FLIGHT_WAITING;
        flight->in_flight = false;
        if (!back)
            return FLIGHT_TIMED_OUT;
    }
    return now >= flight->next_at ? FLIGHT_DUE : FLIGHT_WAITING;
}

static inline void
flight_probe_sent(struct flight *flight, uint64_t number, uint64_t now)
{
    flight->in_flight = true;
    flight->number = number;
    flight->sent_at = now;
    flight->next_at = now + flight->gap;
}

/* No probe is due; the one in flight still comes back, or its time runs out. */
static inline void
flight_pause(struct flight *flight)
{
    flight->next_at = FLIGHT_NEVER;
}

/* Changes the gap, the one under way as well, and lets a paused flight go on. */
static inline void
flight_set_gap(struct flight *flight, uint64_t gap)
{
    if (flight->next_at == FLIGHT_NEVER || flight->next_at == flight->sent_at + flight->gap)
        flight->next_at = flight->sent_at + gap;
    flight->gap = gap;
}

/* The port had no room: the next attempt comes when a lost probe would have been given up. */
static inline void
flight_hold(struct flight *flight, uint64_t now)
{
    flight->next_at = now + flight->timeout;
}

#endif
