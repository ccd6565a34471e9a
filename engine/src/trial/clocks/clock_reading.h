/* SPDX-License-Identifier: Apache-2.0 */
/* The TSC and the kernel's clocks read at one moment, so that times can be carried over. */
#ifndef PLIMSOLL_CLOCK_READING_H
#define PLIMSOLL_CLOCK_READING_H

#include <stdint.h>

struct clock_reading {
    uint64_t tsc;
    uint64_t raw_ns;  /* CLOCK_MONOTONIC_RAW */
    uint64_t unix_ns; /* CLOCK_REALTIME */
    uint64_t width;   /* ticks: all three were read within so many, `tsc` is their middle */
};

/* Of several tries the tightest: some 100 ns wide where no one interrupts it. */
struct clock_reading clock_reading_take(void);

#endif
