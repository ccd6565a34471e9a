/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/stream_ends.h"

#include <math.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "trial/trial.h"

/* After the time at which a stream ends, for its worker to have seen that. */
#define WORKER_TURN_S 50e-6
/* Of a stream whose worker is away, and of one that ends with a frame whose time is not known. */
#define LATE_LOOK_S 1e-3
#define COUNT_LOOK_S 10e-3

static uint64_t
ticks(const struct trial *trial, double seconds)
{
    return (uint64_t)llround(seconds * trial->run->ticks_per_second);
}

/* When a stream that begins at `begin` ends by its time; UINT64_MAX: it has none. */
static uint64_t
end_by_time(const struct trial *trial, uint64_t begin, double duration_s)
{
    if (duration_s <= 0)
        return UINT64_MAX;
    return begin + ticks(trial, duration_s + WORKER_TURN_S) + trial->run->patience_ticks;
}

/* When it ends by its frame count, if it sends all the time; UINT64_MAX: it has none. */
static uint64_t
end_by_count(const struct trial *trial, const struct stream_request *request, uint64_t begin,
             double rate_pps)
{
    const double sending_s =
        rate_pps > 0 ? (double)(request->frame_count - 1) / rate_pps : COUNT_LOOK_S;

    if (request->frame_count == 0 || (request->pacing.rated && rate_pps <= 0))
        return UINT64_MAX;
    return begin +
           ticks(trial, fmin(request->schedule.start_s + sending_s, TRIAL_MAX_S) + WORKER_TURN_S);
}

static void
await(struct trial *trial, uint32_t index, uint64_t look_at)
{
    struct stream_ends *ends = &trial->ends;

    ends->look_at[index] = look_at;
    if (look_at != UINT64_MAX)
        ends->awaited |= UINT64_C(1) << index;
}

static void
await_begun(struct trial *trial, uint32_t index, uint64_t begin, double rate_pps, double duration_s)
{
    const struct stream_request *request = &trial->request->streams[index];
    const uint64_t bit = UINT64_C(1) << index;

    trial->ends.begin_at[index] = begin;
    trial->ends.awaited &= ~bit;
    trial->ends.sending &= ~bit;
    if (!request->pacing.rated || rate_pps > 0)
        trial->ends.sending |= bit;
    await(trial, index,
          RTE_MIN(end_by_time(trial, begin, duration_s),
                  end_by_count(trial, request, begin, rate_pps)));
}

void
stream_ends_begin(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->request->stream_count; i++) {
        const struct stream_request *request = &trial->request->streams[i];

        await_begun(trial, i, trial->run->start, request->pacing.rate_pps, request->duration_s);
    }
}

/* It goes on at another rate, so its last frame comes at another time. */
static void
await_changed(struct trial *trial, uint32_t index, double rate_pps, double duration_s)
{
    struct stream_ends *ends = &trial->ends;
    const struct stream_request *request = &trial->request->streams[index];
    const uint64_t bit = UINT64_C(1) << index, now = rte_rdtsc();
    uint64_t look_at = ends->awaited & bit ? ends->look_at[index] : UINT64_MAX;

    if (atomic_load_explicit(&trial->run->tx_streams[index]->ended_at, memory_order_relaxed) != 0)
        return;
    ends->sending = rate_pps > 0 ? ends->sending | bit : ends->sending & ~bit;
    if (duration_s > 0)
        look_at = end_by_time(trial, now, duration_s);
    if (request->frame_count > 0 && rate_pps > 0)
        look_at = RTE_MIN(look_at, now + ticks(trial, COUNT_LOOK_S));
    await(trial, index, look_at);
}

void
stream_ends_change(struct trial *trial, const struct rates_request *request)
{
    for (uint32_t i = 0; i < trial->request->stream_count; i++) {
        const double rate_pps = request->rate_pps[i], duration_s = request->duration_s[i];
        const uint64_t bit = UINT64_C(1) << i;

        if (!(request->streams & bit))
            continue;
        if ((request->begins & bit) || !trial->polling)
            await_begun(trial, i,
                        trial->polling ? trial->run->tx_streams[i]->begin_at : trial->run->start,
                        rate_pps, duration_s);
        else
            await_changed(trial, i, rate_pps, duration_s);
    }
}

uint64_t
stream_ends_next(const struct trial *trial)
{
    uint64_t next = UINT64_MAX;

    for (uint64_t left = trial->ends.awaited; left != 0; left &= left - 1)
        next = RTE_MIN(next, trial->ends.look_at[__builtin_ctzll(left)]);
    return next;
}

uint64_t
stream_ends_take(struct trial *trial)
{
    struct stream_ends *ends = &trial->ends;
    const uint64_t now = rte_rdtsc();
    uint64_t ended = 0;

    for (uint64_t left = ends->awaited; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(left);
        const bool counted = trial->request->streams[i].frame_count > 0;

        if (atomic_load_explicit(&trial->run->tx_streams[i]->ended_at, memory_order_acquire) != 0)
            ended |= UINT64_C(1) << i;
        else if (ends->look_at[i] <= now)
            ends->look_at[i] = now + ticks(trial, counted ? COUNT_LOOK_S : LATE_LOOK_S);
    }
    ends->awaited &= ~ended;
    ends->sending &= ~ended;
    return ended;
}
