/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/clocks/tsc_rate.h"

#include <time.h>

/* Two readings that are each 100 ns off then give a rate that is off by 1 in 10^6. */
#define LEAST_NS UINT64_C(200000000)

double
tsc_rate_since(const struct clock_reading *first)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    struct clock_reading now = clock_reading_take();

    while (now.raw_ns - first->raw_ns < LEAST_NS) {
        nanosleep(&pause, NULL);
        now = clock_reading_take();
    }
    return (double)(now.tsc - first->tsc) / (double)(now.raw_ns - first->raw_ns) * 1e9;
}
