/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the TSC runs, by the kernel's raw monotonic clock. DPDK's own rte_get_tsc_hz()
 * rounds what it measures to 10 MHz (22.11), which puts every rate and latency off by up
 * to 2 in 1000.
 */
#ifndef PLIMSOLL_TSC_RATE_H
#define PLIMSOLL_TSC_RATE_H

#include "trial/clocks/clock_reading.h"

/*
 * Ticks per second since `first`, to 1 in 10^6 or better. Sleeps if `first` was taken less
 * than 0.2 s ago.
 */
double tsc_rate_since(const struct clock_reading *first);

#endif
