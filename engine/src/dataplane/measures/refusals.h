/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a port had no room for a stream's frames: refusals that follow each other closely are
 * one event, from the first to the last. Times are TSC ticks. Of too many the largest are kept.
 */
#ifndef PLIMSOLL_REFUSALS_H
#define PLIMSOLL_REFUSALS_H

#include <stdint.h>

#define REFUSALS_MAX 128

struct refusal {
    uint64_t first;
    uint64_t last;
    uint64_t frames;
};

struct refusals {
    struct refusal open; /* the event that goes on; without frames there is none */
    uint32_t count;
    uint64_t left_out_events;
    uint64_t left_out_frames;
    struct refusal event[REFUSALS_MAX];
};

/* Empties the list. */
void refusals_clear(struct refusals *list);

/* Notes `frames` refused at `now`: of the open event, unless that ended `apart` ticks ago. */
void refusals_note(struct refusals *list, uint64_t now, uint64_t frames, uint64_t apart);

/* Adds the events of `from`, its open one as it stands. */
void refusals_add(struct refusals *into, const struct refusals *from);

/* Orders the list, largest first. */
void refusals_sort(struct refusals *list);

#endif
