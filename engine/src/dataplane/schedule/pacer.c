/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/schedule/pacer.h"

#include "dataplane/splitmix.h"

#define LONGEST_GAP ((fixed_ticks)1 << 126)

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

void
pacer_start(struct pacer *pacer, const struct pacing *pacing, uint64_t start,
            double ticks_per_second, uint64_t patience)
{
    *pacer = (struct pacer){
        .patience = patience,
        .kind = pacing->kind,
        .burst_frames = pacing->kind == PACING_BURST ? pacing->burst_frames : 1,
        /* Split off, so that gaps do not go with the numbers of a field of the same seed. */
        .seed = splitmix_at(pacing->seed, 0),
    };
    if (pacing->kind == PACING_POISSON) {
        pacer->mean_gap = ticks_per_second * 0x1p16 / pacing->rate_pps;
    } else if (pacing->kind == PACING_CONSTANT || pacing->kind == PACING_BURST) {
        pacer->gap = burst_gap(pacer->burst_frames, frame_gap(pacing->rate_pps, ticks_per_second));
        pacer->per_tick = 1 / ldexp((double)pacer->gap, -64);
    }
    pacer_resume(pacer, start);
}

void
pacer_resume(struct pacer *pacer, uint64_t start)
{
    pacer->next = ((fixed_ticks)start << 64) + UINT64_MAX;
    pacer->burst_left = pacer->burst_frames;
    if (pacer->kind == PACING_POISSON)
        pacer->next += next_random_gap(pacer);
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
    case PACING_BACK_TO_BACK:
    case PACING_ONE_IN_FLIGHT:
        break;
    }
    return 0;
}
