/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each frame of a stream is due, in TSC ticks.
 *
 * constant      frame n at start + n * gap, where the gap is 1 / rate
 * burst         frames k*b to k*b + b-1 all at start + k * b * gap
 * Poisson       gaps -ln(u) * gap, the first one before the first frame, where u is the
 *               seed's n-th random number (splitmix.h): a Poisson process from `start` on,
 *               whose frames in d seconds are rate * d give or take the root of that
 * captured      frame k*b + i at start + (k + share i) * b * gap, where b frames are a round and
 *               the shares say how far into it each is due: a capture's own gaps, scaled
 * back-to-back  always
 *
 * Times are fixed-point with 64 fractional bits, and gaps are added up in them exactly, so
 * nothing drifts. A gap is rounded up to 2^-64 ticks; the 2^49.1 frames of a week at 1e9 pps
 * make that 2^-14.9 ticks. A frame is due at the first tick not before its time. So a trial
 * of d seconds never has a frame more than its rate times d, but in a Poisson process and in
 * a captured round. Rounds are added up as gaps are, and a share of one of 2^51 ticks (4096
 * frames at 0.01 pps and 5 GHz) is off by 2^-12 ticks at most, so that frames at one time
 * stay at one time, and rounds do not drift.
 *
 * Ranges: a week at 5 GHz is 2^51.4 ticks, and a gap at 0.01 pps is 2^38.9. A gap between
 * bursts may be longer than any trial, so it is cut to 2^62 ticks, 29 years at 5 GHz.
 *
 * A rate may change while frames are sent. The change falls at the next frame that was not
 * taken yet where that is due already, and else at the moment it is made: the gap that was
 * under way then becomes one of the new rate, counted from the frame before it, and of random
 * gaps what is left of it grows or shrinks with the mean. So no frame is due twice or left
 * out, and two are never closer than one of both rates has them. A paused stream has no frame
 * due, and none is late; when it goes on, its gap is counted from the last frame before.
 *
 * Frames that are late beyond patience are skipped: sending them would be a burst the DUT
 * was not meant to get. Of a burst, whose frames are all due at once, that is what was not
 * sent yet, be it the whole or the rest of it.
 */
#ifndef PLIMSOLL_PACER_H
#define PLIMSOLL_PACER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/pacing.h"

/* Ticks with 64 fractional bits. */
typedef unsigned __int128 fixed_ticks;
typedef __int128 fixed_offset;

struct pacer {
    fixed_ticks next;  /* when the next frame is due, plus 1 - 2^-64: rounded up by cutting off */
    fixed_ticks gap;   /* between frames, bursts, or the begins of rounds */
    double per_tick;   /* gaps */
    uint64_t patience; /* ticks a frame may be late before it is skipped */
    enum pacing_kind kind;
    uint32_t burst_frames; /* or a round's */
    uint32_t burst_left;   /* frames of the next burst that were not taken yet */
    double mean_gap;       /* Poisson: 2^-16 ticks */
    uint64_t seed;
    uint64_t number;            /* of the next random gap */
    bool paused;                /* the rate is 0 */
    double tick_rate;           /* ticks in a second */
    fixed_offset before;        /* paused: when the last frame or burst was due, or long ago */
    const uint64_t *due_shares; /* captured: of each frame of a round, in 2^-64 of it */
    fixed_ticks round;          /* captured: when this round began, as `next` */
    uint32_t frame;             /* captured: the next one's place in the round */
};

/*
 * Begins the schedule at `start`. A frame may be late by `patience` ticks. One-in-flight,
 * which waits for frames and not for times, is always due, as back-to-back is.
 */
void pacer_start(struct pacer *pacer, const struct pacing *pacing, uint64_t start,
                 double ticks_per_second, uint64_t patience);

/*
 * Begins the schedule anew at `start`, unless paused; random gaps go on where they were, and
 * a round begins.
 */
void pacer_resume(struct pacer *pacer, uint64_t start);

/*
 * Changes the rate at `now`, which is not before the schedule's begin; 0 pauses it. Of a
 * pacing without rate nothing changes.
 */
void pacer_change_rate(struct pacer *pacer, double rate_pps, uint64_t now);

/*
 * -ln(u), where u is one of the 2^52 midpoints of equal parts of (0, 1) that `random`'s
 * high bits choose: the inverse of the exponential distribution's CDF. Its mean over all
 * of them is 1 - 2^-53.5; it reaches from 2^-53 to 36.7, past which lie 1 in 10^16.
 */
static inline double
pacer_exponential(uint64_t random)
{
    return -log(((double)(int64_t)(random >> 12) + 0.5) * 0x1p-52);
}

/* The parts of pacer_take() and pacer_skip_late() that are not worth inlining. */
uint32_t pacer_take_bursts(struct pacer *pacer, uint64_t now, uint32_t most);
uint32_t pacer_take_random(struct pacer *pacer, uint64_t now, uint32_t most);
uint32_t pacer_take_captured(struct pacer *pacer, uint64_t now, uint32_t most);
uint64_t pacer_skip_until(struct pacer *pacer, uint64_t until);

/* The tick at which the next frame is due. */
static inline uint64_t
pacer_due(const struct pacer *pacer)
{
    return (uint64_t)(pacer->next >> 64);
}

/*
 * One frame more than gaps have passed is due. The gaps are guessed, with an error far
 * below one; so the guess takes no frame before its time, and the last is looked at.
 */
static inline uint32_t
pacer_take_constant(struct pacer *pacer, uint64_t now, uint32_t most)
{
    const double passed = (double)(now - pacer_due(pacer)) * pacer->per_tick;
    uint32_t count = passed < most ? (uint32_t)passed : most;

    pacer->next += count * pacer->gap;
    for (; count < most && pacer_due(pacer) <= now; count++)
        pacer->next += pacer->gap;
    return count;
}

/*
 * Takes what is due at `now` out of the schedule, at most `most` frames, and says when the
 * first of them was due; back-to-back frames are due when they are requested.
 */
static inline uint32_t
pacer_take(struct pacer *pacer, uint64_t now, uint32_t most, uint64_t *first_due)
{
    *first_due = pacer_due(pacer);
    if (now < *first_due)
        return 0;
    switch (pacer->kind) {
    case PACING_CONSTANT:
        return pacer_take_constant(pacer, now, most);
    case PACING_BURST:
        return pacer_take_bursts(pacer, now, most);
    case PACING_POISSON:
        return pacer_take_random(pacer, now, most);
    case PACING_CAPTURED:
        return pacer_take_captured(pacer, now, most);
    case PACING_BACK_TO_BACK:
    case PACING_ONE_IN_FLIGHT:
        break;
    }
    *first_due = now;
    return most;
}

/* Skips what is late beyond patience and returns how many frames; never any of back-to-back. */
static inline uint64_t
pacer_skip_late(struct pacer *pacer, uint64_t now)
{
    const uint64_t due = pacer_due(pacer);

    if (now <= due || now - due <= pacer->patience)
        return 0;
    return pacer_skip_until(pacer, now - pacer->patience);
}

#endif
