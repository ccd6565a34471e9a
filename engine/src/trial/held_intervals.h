/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals that are kept until the driver may be woken. On a machine whose every CPU is
 * polled, writing an interval as JSON here and reading it there takes milliseconds from the
 * loops; a copy of the counts takes a fraction of one.
 */
#ifndef PLIMSOLL_HELD_INTERVALS_H
#define PLIMSOLL_HELD_INTERVALS_H

#include "trial/trial.h"

struct held_interval;

struct held_intervals {
    struct held_interval *first;
    struct held_interval **end;
    size_t bytes;
};

void held_intervals_open(struct held_intervals *held);

/*
 * Keeps a copy of the interval. Returns whether all that is held is now due: time or memory
 * is up, or there is no memory for the copy; the interval is then held or, without memory,
 * to be handed over after the others by the caller.
 */
enum held_state {
    HELD,
    HELD_DUE,
    HELD_NOT
} held_intervals_add(struct held_intervals *held, const struct trial *trial);

/* Calls `hand_over` with each held interval, oldest first, and forgets them. */
void held_intervals_hand_over(struct held_intervals *held,
                              void (*hand_over)(void *context, const struct interval *interval),
                              void *context);

#endif
