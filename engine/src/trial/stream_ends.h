/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which streams of a trial have ended, by their time or their frame count. Workers only leave word
 * of it, so the main thread looks: when a stream may have ended, and seldom, for on a small
 * machine it wakes on a worker's CPU.
 */
#ifndef PLIMSOLL_STREAM_ENDS_H
#define PLIMSOLL_STREAM_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/limits.h"
#include "config/rates_request.h"

struct trial;

struct stream_ends {
    uint64_t sending;               /* a bit for each that has a rate, or needs none, and no end */
    uint64_t awaited;               /* those that will end */
    uint64_t look_at[STREAMS_MAX];  /* TSC: when each of these may have ended */
    uint64_t begin_at[STREAMS_MAX]; /* TSC */
};

/* All streams are to begin at the trial's start. */
void stream_ends_begin(struct trial *trial);

/* Streams were given new rates, and perhaps another begin or end. */
void stream_ends_change(struct trial *trial, const struct rates_request *request);

/* The TSC at which some stream may have ended; UINT64_MAX for none. */
uint64_t stream_ends_next(const struct trial *trial);

/* A bit for each stream that has ended since the last call. */
uint64_t stream_ends_take(struct trial *trial);

#endif
