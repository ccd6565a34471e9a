/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock readings spread over a trial of whatever length: at first every one offered is
 * kept; when there is no more room every second one is dropped, and from then on only
 * every second one is kept, and so on.
 */
#ifndef PLIMSOLL_CLOCK_LOG_H
#define PLIMSOLL_CLOCK_LOG_H

#include "trial/clocks/clock_reading.h"

#define CLOCK_LOG_MAX 64

struct clock_log {
    uint32_t count;
    uint32_t step; /* one of so many is kept */
    uint64_t offered;
    struct clock_reading reading[CLOCK_LOG_MAX];
};

void clock_log_begin(struct clock_log *log, struct clock_reading first);

/* A further reading, kept if it is its turn. */
void clock_log_offer(struct clock_log *log, struct clock_reading reading);

/* The last reading, which is always kept. */
void clock_log_end(struct clock_log *log, struct clock_reading last);

#endif
