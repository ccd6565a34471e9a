/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the TSC runs, by the kernel's raw monotonic clock. rte_get_tsc_hz() will not do
 * for a truth: DPDK rounds what it measures to 10 MHz, which is off by up to 2 in 1000.
 */
#ifndef DELAY_DUT_TSC_RATE_H
#define DELAY_DUT_TSC_RATE_H

#include <stdint.h>

/* Both clocks read at one moment. */
struct clocks {
    uint64_t tsc;
    uint64_t ns;
};

/* Of some readings the one that took least, so that the two are some 100 ns apart at most. */
struct clocks clocks_read(void);

/* Ticks per second between two readings; 0.1 s apart they tell it to 2 in 10^6. */
double tsc_rate(struct clocks earlier, struct clocks later);

#endif
