/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which two ends the frames have that a stall of ours may have delayed: between its low and its
 * high end lies what the DUT took with each of them. The histograms of all low and of all high ends
 * do not say which belong together; this does, in coarse buckets.
 *
 * A coarse bucket is eight of a histogram's, so 1/16 of a value wide. Frames with the same two
 * are one entry of a hash table. It takes DELAYED_ENDS_MAX entries; the frames that find no room
 * are counted.
 */
#ifndef PLIMSOLL_DELAYED_ENDS_H
#define PLIMSOLL_DELAYED_ENDS_H

#include <stdint.h>

#include "dataplane/measures/histogram.h"

#define DELAYED_ENDS_MAX 1024
#define DELAYED_ENDS_SLOTS 2048
/* Of histogram buckets in one of these. */
#define DELAYED_ENDS_COARSE 8

struct delayed_end {
    uint16_t low, high; /* coarse buckets */
    uint64_t frames;
};

struct delayed_ends {
    uint32_t count;
    uint64_t left_out;                  /* frames */
    uint16_t slots[DELAYED_ENDS_SLOTS]; /* entry + 1, or 0 */
    struct delayed_end entry[DELAYED_ENDS_MAX];
};

void delayed_ends_clear(struct delayed_ends *ends);

/* Notes frames whose latency is from `low` to `high` ns. */
void delayed_ends_note(struct delayed_ends *ends, uint64_t low, uint64_t high, uint64_t frames);

/* Adds those of `from`, as far as there is room. */
void delayed_ends_add(struct delayed_ends *into, const struct delayed_ends *from);

#endif
