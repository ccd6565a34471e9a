/* SPDX-License-Identifier: Apache-2.0 */
/* A stream's schedule as it is requested; the pacer makes times of it. */
#ifndef PLIMSOLL_PACING_H
#define PLIMSOLL_PACING_H

#include <stdbool.h>
#include <stdint.h>

enum pacing_kind {
    PACING_CONSTANT,
    PACING_BURST,
    PACING_POISSON,
    PACING_CAPTURED,
    PACING_BACK_TO_BACK,
    PACING_ONE_IN_FLIGHT
};

struct pacing {
    enum pacing_kind kind;
    bool rated;            /* it has a rate, which may change while it sends */
    double rate_pps;       /* 0.01 to 1e9; 0 of a rated one: paused */
    uint32_t burst_frames; /* 1 or more, of bursts */
    uint64_t seed;
    double timeout_us;     /* one-in-flight */
    uint32_t round_frames; /* captured: 2 or more, which follow each other over and over */
    uint64_t *due_shares;  /* captured: when each is due within a round, in 2^-64 of it */
};

#endif
