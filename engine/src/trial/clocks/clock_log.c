/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/clocks/clock_log.h"

void
clock_log_begin(struct clock_log *log, struct clock_reading first)
{
    log->count = 0;
    log->step = 1;
    log->offered = 0;
    clock_log_offer(log, first);
}

static void
drop_every_second(struct clock_log *log)
{
    const uint32_t kept = (log->count + 1) / 2;

    for (uint32_t i = 1; i < kept; i++)
        log->reading[i] = log->reading[2 * i];
    log->count = kept;
    log->step *= 2;
}

/* One place is left free for the last reading. */
void
clock_log_offer(struct clock_log *log, struct clock_reading reading)
{
    const uint64_t number = log->offered++;

    if (number % log->step != 0)
        return;
    if (log->count == CLOCK_LOG_MAX - 1)
        drop_every_second(log);
    if (number % log->step == 0)
        log->reading[log->count++] = reading;
}

void
clock_log_end(struct clock_log *log, struct clock_reading last)
{
    log->reading[log->count++] = last;
}
