/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/rate_change.h"

#include <rte_cycles.h>
#include <time.h>

#include "dataplane/loop/stream_course.h"

void
rate_change_give(struct run *run, const struct rates_request *request)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000};
    const uint32_t epoch = atomic_load_explicit(&run->rates_epoch, memory_order_relaxed) + 1;

    run->rates = *request;
    atomic_store_explicit(&run->rates_epoch, epoch, memory_order_release);
    for (uint32_t i = 0; i < run->worker_count; i++) {
        while (atomic_load_explicit(&run->workers[i]->rates_epoch, memory_order_acquire) != epoch)
            nanosleep(&pause, NULL);
    }
}

static void
change_flight(struct flight *flight, double rate_pps, double ticks_per_second)
{
    if (rate_pps > 0)
        flight_set_gap(flight, (uint64_t)(ticks_per_second / rate_pps));
    else
        flight_pause(flight);
}

static void
change(const struct run *run, struct tx_stream *stream, double rate_pps, uint64_t now)
{
    /* Where it has yet to begin, or to go on, its first frame is due then. */
    const uint64_t begin = stream->windowed ? stream->window.begin : stream->begin_at;

    if (stream->flight) {
        change_flight(stream->flight, rate_pps, run->ticks_per_second);
        return;
    }
    pacer_change_rate(&stream->pacer, rate_pps, now);
    if (now < begin)
        pacer_resume(&stream->pacer, begin);
}

/* What a stream that begins anew has from its last begin is not of this one. */
static void
take(const struct run *run, struct tx_stream *stream, uint32_t index, uint64_t now)
{
    const double rate_pps = run->rates.rate_pps[index], duration_s = run->rates.duration_s[index];

    if (run->rates.begins & (UINT64_C(1) << index)) {
        stream->rate_pps = rate_pps;
        stream->duration_s = duration_s;
        stream_course_begin(run, stream, now);
        return;
    }
    change(run, stream, rate_pps, now);
    if (duration_s > 0 && stream->frames_left > 0)
        stream_course_end_after(run, stream, now, duration_s);
}

void
rate_change_take(struct worker *worker, uint32_t epoch)
{
    const struct run *run = worker->run;
    const uint64_t now = rte_rdtsc();

    for (uint32_t i = 0; i < worker->tx_stream_count; i++) {
        struct tx_stream *stream = worker->tx_streams[i];
        const uint32_t index = run->stream_index[stream->stream];

        if (run->rates.streams & (UINT64_C(1) << index))
            take(run, stream, index, now);
    }
    atomic_store_explicit(&worker->rates_epoch, epoch, memory_order_release);
}
