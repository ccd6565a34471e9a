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
    PACING_BACK_TO_BACK,
    PACING_ONE_IN_FLIGHT
};

struct pacing {
    enum pacing_kind kind;
    bool rated;            /* it has a rate, which may change while it sends */
    double rate_pps;       /* 0.01 to 1e9; 0 of a rated one: paused */
    uint32_t burst_frames; /* 1 or more, of bursts */
    uint64_t seed;
    double timeout_us; /* one-in-flight */
};

#endif
