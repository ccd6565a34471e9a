/* SPDX-License-Identifier: Apache-2.0 */
#include "tsc_rate.h"

#include <rte_cycles.h>
#include <time.h>

#define READINGS 20

struct clocks
clocks_read(void)
{
    struct clocks best = {0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < READINGS; i++) {
        struct timespec time;
        const uint64_t before = rte_rdtsc();

        clock_gettime(CLOCK_MONOTONIC_RAW, &time);
        const uint64_t took = rte_rdtsc() - before;
        if (took >= least)
            continue;
        least = took;
        best.tsc = before + took / 2;
        best.ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    }
    return best;
}

double
tsc_rate(struct clocks earlier, struct clocks later)
{
    return (double)(later.tsc - earlier.tsc) / (double)(later.ns - earlier.ns) * 1e9;
}
