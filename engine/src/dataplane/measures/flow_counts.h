/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came of a stream by flow, as one receive queue saw it.
 *
 * Frame n of a stream is of flow (first + n) mod count, as its fields are of value (first + n)
 * mod count (config/fields.h), and n is the sequence number that the frame carries. So a frame
 * says whose it is without a byte more, whatever a DUT has made of its headers, and how many
 * frames of a flow were sent follows from how many were sent in all.
 *
 * Consecutive numbers are neighbours in the table, two to a cache line, and a train is counted
 * from its first number on without another division. Only the worker that polls the queue writes
 * it, and the main thread reads it once the workers have ended: it has no pages.
 */
#ifndef PLIMSOLL_FLOW_COUNTS_H
#define PLIMSOLL_FLOW_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct flow_counter {
    uint64_t received;
    uint64_t timed;       /* of them, those of the stream's `latency` */
    uint64_t latency_sum; /* ns, of the timed */
    uint32_t latency_min; /* ns; UINT32_MAX where none is timed */
    uint32_t latency_max; /* ns; UINT32_MAX stands for that and more */
};

struct flow_counts {
    struct flow_counter *flows;
    uint64_t *duplicates; /* by flow, apart: they are rare */
    uint64_t next;        /* a number whose flow is known: */
    uint32_t next_flow;
    uint32_t first; /* the flow of number 0 */
    uint32_t count;
};

/* `count` flows from 1 on, `first` one of them. NULL without memory; freed by the next. */
struct flow_counts *flow_counts_make(uint32_t count, uint32_t first);

void flow_counts_free(struct flow_counts *counts);

/*
 * Frames with the numbers from `sequence` on came, after `latency` ns each; those that are not
 * timed have none.
 */
void flow_counts_note(struct flow_counts *counts, uint64_t sequence, uint32_t frames,
                      uint64_t latency, bool timed);

/* The frame, which is noted as any other, had come before. */
void flow_counts_note_duplicate(struct flow_counts *counts, uint64_t sequence);

/* Adds `from` to `into`, of as many flows; exact. */
void flow_counts_add(struct flow_counts *into, const struct flow_counts *from);

/* How many of the first `sent` numbers are of this flow. */
uint64_t flow_counts_sent(const struct flow_counts *counts, uint64_t sent, uint32_t flow);

#endif
