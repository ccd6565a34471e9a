/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/tsc_rate.h"

#include <rte_cycles.h>
#include <time.h>

#define TRIES 20
/* Two readings that are each 100 ns off then give a rate that is off by 1 in 10^6. */
#define LEAST_NS UINT64_C(200000000)

static uint64_t
raw_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct clock_reading
clock_reading_take(void)
{
    struct clock_reading best = {0};
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < TRIES; i++) {
        const uint64_t before = rte_rdtsc();
        const uint64_t ns = raw_ns();
        const uint64_t took = rte_rdtsc() - before;

        if (took < least) {
            least = took;
            best = (struct clock_reading){.tsc = before + took / 2, .ns = ns};
        }
    }
    return best;
}

double
tsc_rate_since(const struct clock_reading *first)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

    while (raw_ns() - first->ns < LEAST_NS)
        nanosleep(&pause, NULL);
    const struct clock_reading now = clock_reading_take();
    return (double)(now.tsc - first->tsc) / (double)(now.ns - first->ns) * 1e9;
}
