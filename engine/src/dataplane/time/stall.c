/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/time/stall.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void
keep_longest(struct stall_tally *tally, struct stall stall)
{
    uint32_t shortest = 0;

    if (tally->longest_count < STALL_LONGEST_MAX) {
        tally->longest[tally->longest_count++] = stall;
        return;
    }
    for (uint32_t i = 1; i < STALL_LONGEST_MAX; i++) {
        if (tally->longest[i].length < tally->longest[shortest].length)
            shortest = i;
    }
    if (stall.length > tally->longest[shortest].length)
        tally->longest[shortest] = stall;
}

void
stall_tally_clear(struct stall_tally *tally)
{
    memset(tally, 0, offsetof(struct stall_tally, gaps));
    histogram_clear(&tally->gaps);
}

void
stall_tally_record(struct stall_tally *tally, struct stall stall)
{
    tally->stalls++;
    tally->stalled += stall.length;
    tally->worst = stall.length > tally->worst ? stall.length : tally->worst;
    keep_longest(tally, stall);
}

void
stall_tally_add(struct stall_tally *into, const struct stall_tally *from)
{
    into->polls += from->polls;
    into->idle_polls += from->idle_polls;
    into->stalls += from->stalls;
    into->stalled += from->stalled;
    into->worst = from->worst > into->worst ? from->worst : into->worst;
    for (uint32_t i = 0; i < from->longest_count; i++)
        keep_longest(into, from->longest[i]);
    histogram_add(&into->gaps, &from->gaps);
}

static int
longer_first(const void *a, const void *b)
{
    const struct stall *left = a, *right = b;

    return (left->length < right->length) - (left->length > right->length);
}

void
stall_tally_sort(struct stall_tally *tally)
{
    qsort(tally->longest, tally->longest_count, sizeof(tally->longest[0]), longer_first);
}
