/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over a buffer, a cache line a step: every line in turn, or one at random each time. */
#ifndef PLIMSOLL_MEMORY_WALK_H
#define PLIMSOLL_MEMORY_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* Of x86-64 and most of AArch64; what a step touches is the first word of a line. */
#define LINE_BYTES 64
#define WRITES_ALL 256

struct memory_walk {
    uint64_t *words;
    uint64_t lines;
    bool random;
    /* Of 256 steps in a row, so many write; the others read. */
    uint32_t writes;
    uint64_t seed;
    /* Steps so far. */
    uint64_t steps;
    /* Of what was read, so that no compiler leaves reading out. */
    uint64_t sum;
};

/* The line that step number `step` of the walk touches, from 0. */
uint64_t memory_walk_line(const struct memory_walk *walk, uint64_t step);

/* Take `steps` more. The walk has at least one line, in memory that may be written. */
void memory_walk(struct memory_walk *walk, uint64_t steps);

#endif
