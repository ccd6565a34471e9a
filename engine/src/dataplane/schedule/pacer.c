/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/schedule/pacer.h"

#include "dataplane/splitmix.h"

#define LONGEST_GAP ((fixed_ticks)1 << 126)
/* Beyond all time, and so long ago that any gap since then has passed. */
#define NEVER ((fixed_ticks)UINT64_MAX << 64)
#define LONG_AGO (-(fixed_offset)LONGEST_GAP)

/* When a frame is due at that tick: see `next`. */
static fixed_ticks
fixed_at(uint64_t tick)
{
    return ((fixed_ticks)tick << 64) + UINT64_MAX;
}

/* Rounded up. Of at least one tick, long double's 64 bits are whole 2^-64 ticks anyway. */
static fixed_ticks
fixed_from(long double ticks)
{
    const uint64_t whole = (uint64_t)ticks;

    return ((fixed_ticks)whole << 64) + (fixed_ticks)ceill(ldexpl(ticks - (long double)whole, 64));
}

/*
 * Ticks between frames, rounded up to 2^-64. The quotient lacks up to 39 of these bits;
 * the division's remainder, which a fused multiply-add has exactly, tells them.
 */
static fixed_ticks
frame_gap(double rate_pps, double ticks_per_second)
{
    const long double quotient = (long double)ticks_per_second / rate_pps;
    const long double remainder = fmal(-quotient, rate_pps, ticks_per_second);

    return fixed_from(quotient) + (fixed_ticks)(__int128)ceill(ldexpl(remainder / rate_pps, 64));
}

static fixed_ticks
burst_gap(uint32_t burst_frames, fixed_ticks gap)
{
    return gap < LONGEST_GAP / burst_frames ? gap * burst_frames : LONGEST_GAP;
}

/* An exponentially distributed gap, to the nearest 2^-16 ticks: at most 2^60 of them. */
static fixed_ticks
next_random_gap(struct pacer *pacer)
{
    const uint64_t random = splitmix_at(pacer->seed, pacer->number++);
    const int64_t gap = (int64_t)(pacer_exponential(random) * pacer->mean_gap + 0.5);

    return (fixed_ticks)gap << 48;
}

/* How long after its round's begin a captured frame is due. */
static fixed_ticks
time_in_round(const struct pacer *pacer, uint32_t frame)
{
    const fixed_ticks share = pacer->due_shares[frame];
    const uint64_t ticks = (uint64_t)(pacer->gap >> 64), fraction = (uint64_t)pacer->gap;

    return ticks * share + (fraction * share >> 64);
}

static void
next_captured(struct pacer *pacer)
{
    if (++pacer->frame == pacer->burst_frames) {
        pacer->frame = 0;
        pacer->round += pacer->gap;
    }
    pacer->next = pacer->round + time_in_round(pacer, pacer->frame);
}

/* Between the next frame, or burst, and the one before it. */
static fixed_ticks
gap_before_next(const struct pacer *pacer)
{
    if (pacer->kind != PACING_CAPTURED)
        return pacer->gap;
    if (pacer->frame == 0)
        return pacer->gap - time_in_round(pacer, pacer->burst_frames - 1);
    return time_in_round(pacer, pacer->frame) - time_in_round(pacer, pacer->frame - 1);
}

static void
set_rate(struct pacer *pacer, double rate_pps)
{
    if (pacer->kind == PACING_POISSON) {
        pacer->mean_gap = pacer->tick_rate * 0x1p16 / rate_pps;
        return;
    }
    pacer->gap = burst_gap(pacer->burst_frames, frame_gap(rate_pps, pacer->tick_rate));
    pacer->per_tick = 1 / ldexp((double)pacer->gap, -64);
}

static bool
is_rated(const struct pacer *pacer)
{
    return pacer->kind != PACING_BACK_TO_BACK && pacer->kind != PACING_ONE_IN_FLIGHT;
}

void
pacer_start(struct pacer *pacer, const struct pacing *pacing, uint64_t start,
            double ticks_per_second, uint64_t patience)
{
    const uint32_t round_frames = pacing->kind == PACING_CAPTURED ? pacing->round_frames : 1;

    *pacer = (struct pacer){
        .patience = patience,
        .kind = pacing->kind,
        .burst_frames = pacing->kind == PACING_BURST ? pacing->burst_frames : round_frames,
        /* Split off, so that gaps do not go with the numbers of a field of the same seed. */
        .seed = splitmix_at(pacing->seed, 0),
        .tick_rate = ticks_per_second,
        .next = NEVER,
        .before = LONG_AGO,
        .due_shares = pacing->due_shares,
    };
    pacer->paused = is_rated(pacer) && pacing->rate_pps <= 0;
    if (is_rated(pacer) && !pacer->paused)
        set_rate(pacer, pacing->rate_pps);
    pacer_resume(pacer, start);
}

void
pacer_resume(struct pacer *pacer, uint64_t start)
{
    pacer->frame = 0;
    if (pacer->paused) {
        pacer->before = LONG_AGO;
        return;
    }
    pacer->next = pacer->round = fixed_at(start);
    pacer->burst_left = pacer->burst_frames;
    if (pacer->kind == PACING_POISSON)
        pacer->next += next_random_gap(pacer);
}

/* The rest of a burst that was under way is left out. */
static void
pause_sending(struct pacer *pacer)
{
    const bool under_way = pacer->burst_left < pacer->burst_frames;

    pacer->before =
        (fixed_offset)pacer->next - (under_way ? 0 : (fixed_offset)gap_before_next(pacer));
    pacer->next = NEVER;
    pacer->burst_left = pacer->burst_frames;
    pacer->paused = true;
}

/* What is left of a random gap is a random gap of the same mean, and so grows with it. */
static void
stretch_random_gap(struct pacer *pacer, double mean_before, uint64_t now)
{
    const long double left = ldexpl((long double)(pacer->next - fixed_at(now)), -64);

    pacer->next = fixed_at(now) + fixed_from(left * (pacer->mean_gap / mean_before));
}

/* The gap from `before` on is one of the new rate, and the next frame is not due in the past. */
static void
stretch_gap(struct pacer *pacer, fixed_offset before, uint64_t now)
{
    const fixed_offset next = before + (fixed_offset)gap_before_next(pacer);

    pacer->next = next > (fixed_offset)fixed_at(now) ? (fixed_ticks)next : fixed_at(now);
}

void
pacer_change_rate(struct pacer *pacer, double rate_pps, uint64_t now)
{
    const double mean_before = pacer->mean_gap;
    const bool was_paused = pacer->paused;
    fixed_offset before;

    if (!is_rated(pacer) || (was_paused && rate_pps <= 0))
        return;
    if (rate_pps <= 0) {
        pause_sending(pacer);
        return;
    }
    before = was_paused ? pacer->before
                        : (fixed_offset)pacer->next - (fixed_offset)gap_before_next(pacer);
    set_rate(pacer, rate_pps);
    pacer->paused = false;
    if (pacer_due(pacer) > now) {
        if (pacer->kind == PACING_POISSON && was_paused)
            pacer->next = fixed_at(now) + next_random_gap(pacer);
        else if (pacer->kind == PACING_POISSON)
            stretch_random_gap(pacer, mean_before, now);
        else
            stretch_gap(pacer, before, now);
    }
    if (pacer->kind == PACING_CAPTURED)
        pacer->round = pacer->next - time_in_round(pacer, pacer->frame);
}

uint32_t
pacer_take_bursts(struct pacer *pacer, uint64_t now, uint32_t most)
{
    uint32_t count = 0;

    while (count < most && pacer_due(pacer) <= now) {
        const uint32_t room = most - count;
        const uint32_t taken = pacer->burst_left < room ? pacer->burst_left : room;

        count += taken;
        pacer->burst_left -= taken;
        if (pacer->burst_left == 0) {
            pacer->burst_left = pacer->burst_frames;
            pacer->next += pacer->gap;
        }
    }
    return count;
}

uint32_t
pacer_take_random(struct pacer *pacer, uint64_t now, uint32_t most)
{
    uint32_t count = 0;

    for (; count < most && pacer_due(pacer) <= now; count++)
        pacer->next += next_random_gap(pacer);
    return count;
}

uint32_t
pacer_take_captured(struct pacer *pacer, uint64_t now, uint32_t most)
{
    uint32_t count = 0;

    for (; count < most && pacer_due(pacer) <= now; count++)
        next_captured(pacer);
    return count;
}

/* Whole rounds at once, and the rest, which is less than one, frame by frame. */
static uint64_t
skip_captured(struct pacer *pacer, uint64_t until)
{
    const fixed_ticks missing = ((fixed_ticks)until << 64) - pacer->next;
    const uint64_t rounds = (uint64_t)(missing / pacer->gap);
    uint64_t count = rounds * pacer->burst_frames;

    pacer->round += rounds * pacer->gap;
    pacer->next += rounds * pacer->gap;
    for (; pacer_due(pacer) < until; count++)
        next_captured(pacer);
    return count;
}

/* The schedule has no short cut: a frame's time is the sum of the gaps before it. */
static uint64_t
skip_random(struct pacer *pacer, uint64_t until)
{
    uint64_t count = 0;

    for (; pacer_due(pacer) < until; count++)
        pacer->next += next_random_gap(pacer);
    return count;
}

/* As many gaps as bring the next frame to `until` or after it; the first one ends a burst. */
static uint64_t
skip_gaps(struct pacer *pacer, uint64_t until)
{
    const fixed_ticks missing = ((fixed_ticks)until << 64) - pacer->next;
    const uint64_t gaps = (uint64_t)((missing - 1) / pacer->gap) + 1;
    const uint64_t skipped = pacer->burst_left + (gaps - 1) * pacer->burst_frames;

    pacer->next += gaps * pacer->gap;
    pacer->burst_left = pacer->burst_frames;
    return skipped;
}

uint64_t
pacer_skip_until(struct pacer *pacer, uint64_t until)
{
    switch (pacer->kind) {
    case PACING_CONSTANT:
    case PACING_BURST:
        return skip_gaps(pacer, until);
    case PACING_POISSON:
        return skip_random(pacer, until);
    case PACING_CAPTURED:
        return skip_captured(pacer, until);
    case PACING_BACK_TO_BACK:
    case PACING_ONE_IN_FLIGHT:
        break;
    }
    return 0;
}
