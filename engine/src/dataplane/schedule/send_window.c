/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/schedule/send_window.h"

#include <math.h>

/* Longer than any trial, and far from an overflow: 29 years at 5 GHz. */
#define FOREVER (UINT64_C(1) << 62)

static uint64_t
ticks_of(double seconds, double ticks_per_second)
{
    return (uint64_t)llround(seconds * ticks_per_second);
}

void
send_window_start(struct send_window *window, const struct stream_schedule *schedule,
                  uint64_t start, double ticks_per_second)
{
    const uint64_t first = start + ticks_of(schedule->start_s, ticks_per_second);
    const uint64_t duration =
        schedule->duration_s > 0 ? ticks_of(schedule->duration_s, ticks_per_second) : FOREVER;

    *window = (struct send_window){
        .begin = first, .end = first + duration, .first = first, .duration = duration};
    if (schedule->repeats)
        window->period = ((long double)schedule->duration_s + schedule->pause_s) * ticks_per_second;
}

void
send_window_next(struct send_window *window)
{
    if (window->period == 0) {
        window->begin = window->end = NO_WINDOW;
        return;
    }
    window->number++;
    window->begin =
        window->first + (uint64_t)llroundl((long double)window->number * window->period);
    window->end = window->begin + window->duration;
}
