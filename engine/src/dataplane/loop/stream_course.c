/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/stream_course.h"

void
stream_course_end_after(const struct run *run, struct tx_stream *stream, uint64_t from,
                        double duration_s)
{
    stream->until = from + (uint64_t)llround(duration_s * run->ticks_per_second);
    stream->over_at = stream->until + run->patience_ticks;
}

static void
begin_pacing(const struct run *run, struct tx_stream *stream, uint64_t begin)
{
    struct pacing pacing = stream->request->pacing;

    pacing.rate_pps = stream->rate_pps;
    if (stream->windowed) {
        send_window_start(&stream->window, &stream->request->schedule, begin,
                          run->ticks_per_second);
        begin = stream->window.begin;
    }
    pacer_start(&stream->pacer, &pacing, begin, run->ticks_per_second, run->patience_ticks);
}

static void
begin_flight(const struct run *run, struct tx_stream *stream, uint64_t begin)
{
    const bool rated = stream->request->pacing.rated;

    if (rated && stream->rate_pps > 0)
        stream->flight->gap = (uint64_t)(run->ticks_per_second / stream->rate_pps);
    stream->flight->next_at = rated && stream->rate_pps <= 0 ? FLIGHT_NEVER : begin;
}

void
stream_course_begin(const struct run *run, struct tx_stream *stream, uint64_t begin)
{
    const uint64_t count = stream->request->frame_count;

    stream->begin_at = begin;
    stream->frames_left = count > 0 ? count : UINT64_MAX;
    stream->until = stream->over_at = STREAM_ENDLESS;
    if (stream->duration_s > 0)
        stream_course_end_after(run, stream, begin, stream->duration_s);
    atomic_store_explicit(&stream->ended_at, 0, memory_order_relaxed);
    if (stream->flight)
        begin_flight(run, stream, begin);
    else
        begin_pacing(run, stream, begin);
}
