/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows of time in which a stream with a schedule sends: one, or one after the other.
 *
 * Window k of a repeating schedule begins at start + start_s + k * (duration_s + pause_s),
 * each computed from the trial's start, so that rounding never adds up. A frame is sent in a
 * window when it is due at its begin or later and before its end.
 */
#ifndef PLIMSOLL_SEND_WINDOW_H
#define PLIMSOLL_SEND_WINDOW_H

#include <stdint.h>

#include "config/stream_schedule.h"

#define NO_WINDOW UINT64_MAX

struct send_window {
    uint64_t begin; /* TSC; NO_WINDOW: there are no more */
    uint64_t end;   /* TSC */
    uint64_t number;
    uint64_t first;     /* window 0's begin, TSC */
    uint64_t duration;  /* ticks */
    long double period; /* ticks from begin to begin; 0: there is one window only */
};

/* Opens the first window of a trial that starts at `start`. */
void send_window_start(struct send_window *window, const struct stream_schedule *schedule,
                       uint64_t start, double ticks_per_second);

/* Goes on to the next window, if there is one. */
void send_window_next(struct send_window *window);

#endif
