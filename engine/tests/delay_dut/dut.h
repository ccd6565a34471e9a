/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delay DUT's state. The forwarding loop alone writes it while it runs; the main
 * thread writes and reads it in between.
 */
#ifndef DELAY_DUT_DUT_H
#define DELAY_DUT_DUT_H

#include <stdatomic.h>

#include "behaviour.h"
#include "held.h"

#define PORTS_MAX 8
#define STREAMS_MAX 65536
#define ASIDES_MAX 256
#define RECORDS_MAX 262144

/* A frame of the engine's, as it left. */
struct record {
    uint64_t sequence;
    uint64_t hold;        /* ticks, see held.h */
    uint64_t uncertainty; /* ticks */
    uint64_t late;        /* sent after it was due, ticks */
    uint64_t way;         /* from the time in its signature to here, ticks */
    uint16_t port;
    uint16_t stream;
    actions_done done;
};

/* A frame that waits for a later one of its stream, to be sent right behind it. */
struct aside {
    uint32_t until;
    uint32_t copies; /* to be sent besides */
    struct held held;
};

struct path {
    struct path_behaviour *behaviour;
    uint64_t least_hold, hold_range; /* ticks */
    uint64_t random;                 /* state */
    uint64_t withhold_late;          /* ticks */
    uint64_t polled_at;              /* begin of the last poll; 0: none yet */
    uint64_t order;
    uint64_t last_due;
    uint64_t without_signature; /* frames in which no wrong is done */
    uint64_t withheld;
    uint64_t misfits;  /* frames that a rewrite did not fit, dropped */
    uint64_t unmade;   /* copies and injected frames for which there was no buffer */
    uint64_t overfull; /* frames dropped because too many were held */
    uint64_t refusals; /* times that the port had no room; the frame is tried again */
    uint32_t aside_count;
    struct aside asides[ASIDES_MAX];
    struct held_frames held;
    uint32_t next_number[STREAMS_MAX];
};

struct dut {
    _Atomic bool stop;
    double tsc_hz;
    uint16_t port_count;
    struct rte_mempool *pool;
    uint64_t received[PORTS_MAX], sent[PORTS_MAX];
    uint64_t polls;
    uint64_t longest_turn; /* of the loop, ticks */
    uint64_t record_count;
    uint64_t unrecorded; /* frames for which there was no place any more */
    struct record records[RECORDS_MAX];
    struct path paths[PATHS_MAX];
    struct behaviour behaviour;
};

/* Forgets everything and begins to behave as dut->behaviour says. The loop must not run. */
void dut_begin(struct dut *dut);

#endif
