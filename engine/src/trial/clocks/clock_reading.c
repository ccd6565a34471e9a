/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/clocks/clock_reading.h"

#include <rte_cycles.h>
#include <time.h>

#define TRIES 20

static uint64_t
clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct clock_reading
clock_reading_take(void)
{
    struct clock_reading best = {.width = UINT64_MAX};

    for (uint32_t i = 0; i < TRIES; i++) {
        const uint64_t before = rte_rdtsc();
        const uint64_t raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
        const uint64_t unix_ns = clock_ns(CLOCK_REALTIME);
        const uint64_t width = rte_rdtsc() - before;

        if (width < best.width)
            best = (struct clock_reading){before + width / 2, raw_ns, unix_ns, width};
    }
    return best;
}
