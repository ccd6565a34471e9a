/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream's begin, with the trial or by a request, and its end: so long after its begin, or with
 * its last frame. All of it is its worker's to do, once the workers run.
 */
#ifndef PLIMSOLL_STREAM_COURSE_H
#define PLIMSOLL_STREAM_COURSE_H

#include "dataplane/loop/run.h"

/* Begins the stream, its pacing, schedule and frame count anew, at its rate_pps and duration_s. */
void stream_course_begin(const struct run *run, struct tx_stream *stream, uint64_t begin);

/* Lets the stream end `duration_s` after `from`, which is no later than now. */
void stream_course_end_after(const struct run *run, struct tx_stream *stream, uint64_t from,
                             double duration_s);

/* The stream ended at `at`: it sends nothing more, and the main thread may know. */
static inline void
stream_course_over(struct tx_stream *stream, uint64_t at)
{
    stream->frames_left = 0;
    stream->over_at = STREAM_ENDLESS;
    atomic_store_explicit(&stream->ended_at, at, memory_order_release);
}

#endif
