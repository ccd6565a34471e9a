/* SPDX-License-Identifier: Apache-2.0 */
#include "antagonist/memory_walk.h"

#include "dataplane/splitmix.h"

#define LINE_WORDS (LINE_BYTES / sizeof(uint64_t))

uint64_t
memory_walk_line(const struct memory_walk *walk, uint64_t step)
{
    if (!walk->random)
        return step % walk->lines;
    /* The upper half of the product scales 64 random bits to the lines without a division. */
    return (uint64_t)((__uint128_t)splitmix_at(walk->seed, step) * walk->lines >> 64);
}

void
memory_walk(struct memory_walk *walk, uint64_t steps)
{
    for (uint64_t end = walk->steps + steps; walk->steps < end; walk->steps++) {
        volatile uint64_t *word = &walk->words[memory_walk_line(walk, walk->steps) * LINE_WORDS];

        if (walk->steps % WRITES_ALL < walk->writes)
            *word = walk->steps;
        else
            walk->sum += *word;
    }
}
