/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatable random numbers: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
#ifndef PLIMSOLL_SEEDED_RANDOM_H
#define PLIMSOLL_SEEDED_RANDOM_H

#include <stdint.h>

static inline uint64_t
random_next(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* From 0 to `bound` - 1. */
static inline uint64_t
random_below(uint64_t *state, uint64_t bound)
{
    return random_next(state) % bound;
}

#endif
