/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream's loss events: gaps in its sequence numbers as the receiver saw them, each with
 * the times between which the missing frames were sent. In the order of their numbers,
 * which is that in which they were seen; of too many the largest are kept.
 *
 * A frame that comes late takes its number out of the gap; a gap that is filled that way
 * is no loss and leaves the list. One that was noted before the page turned is not on the
 * page any more, so the number is noted instead, for the main thread to take out.
 * Times are TSC ticks.
 */
#ifndef PLIMSOLL_LOSS_EVENTS_H
#define PLIMSOLL_LOSS_EVENTS_H

#include <stdint.h>

/* As many as a trial's result lists; an interval event lists fewer. */
#define LOSS_EVENTS_MAX 256
#define LATE_RANGES_MAX 64

struct loss_event {
    uint64_t first; /* missing number */
    uint64_t frames;
    uint64_t filled;  /* of them, came late */
    uint64_t after;   /* send time of the last frame before the gap; 0: there was none */
    uint64_t before;  /* send time of the first frame after it */
    uint64_t seen_at; /* receive time of that frame */
};

struct loss_events {
    uint32_t count;
    uint64_t smallest; /* while the list is full: frames of its smallest gap */
    uint64_t left_out_events;
    uint64_t left_out_frames; /* of those, still missing */
    struct loss_event event[LOSS_EVENTS_MAX];
};

/* Numbers that came late, in runs. */
struct late_range {
    uint64_t first;
    uint64_t frames;
};

struct late_ranges {
    uint64_t begin; /* the page's first number: lower ones belong to earlier pages */
    uint32_t count;
    struct late_range range[LATE_RANGES_MAX];
};

/* Empties the list. */
void loss_events_clear(struct loss_events *list);

/* Notes a gap whose numbers are higher than those of all before. */
void loss_events_note(struct loss_events *list, struct loss_event event);

/* Takes numbers that came late out of the gaps that they were missing in. */
void loss_events_fill(struct loss_events *list, uint64_t first, uint64_t frames);

/* Adds `from`, which follows `into`. */
void loss_events_add(struct loss_events *into, const struct loss_events *from);

/* Orders the list, largest first; nothing can be noted in it or added to it any more. */
void loss_events_sort(struct loss_events *list);

/* Notes a number that came late; when there are too many runs of them it is forgotten. */
void late_ranges_note(struct late_ranges *late, uint64_t number);

#endif
