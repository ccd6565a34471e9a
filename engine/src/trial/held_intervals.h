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
    uint64_t lost;    /* of the trial so far: passed over in the sequence, or refused */
    uint64_t wake_at; /* more lost frames than this are worth waking the driver for */
};

void held_intervals_open(struct held_intervals *held, const struct hold_request *request);

/*
 * Keeps a copy of the interval. Returns whether all that is held is now due: the request
 * asks for it, time or memory is up, or there is no memory for the copy; the interval is
 * then held or, without memory, to be handed over after the others by the caller.
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
