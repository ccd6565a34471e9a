/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers without a state: the n-th is a function of seed and n.
 *
 * They are the outputs of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014), which mixes a counter that grows by the golden
 * ratio's fraction; its mixer is Stafford's thirteenth. It passes BigCrush, and as any
 * number can be computed, taking steps back is a subtraction.
 */
#ifndef PLIMSOLL_SPLITMIX_H
#define PLIMSOLL_SPLITMIX_H

#include <stdint.h>

/* What a generator seeded with `seed` yields after `number` others. */
static inline uint64_t
splitmix_at(uint64_t seed, uint64_t number)
{
    uint64_t mixed = seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

#endif
