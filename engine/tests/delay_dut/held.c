/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

#include <errno.h>

static bool
before(const struct held *a, const struct held *b)
{
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

int
held_add(struct held_frames *frames, const struct held *held)
{
    uint32_t at = frames->count;

    if (at == HELD_MAX)
        return -ENOSPC;
    frames->count++;
    for (; at > 0 && before(held, &frames->held[(at - 1) / 2]); at = (at - 1) / 2)
        frames->held[at] = frames->held[(at - 1) / 2];
    frames->held[at] = *held;
    return 0;
}

const struct held *
held_next(const struct held_frames *frames)
{
    return frames->count > 0 ? &frames->held[0] : NULL;
}

void
held_remove_next(struct held_frames *frames)
{
    const struct held *last = &frames->held[--frames->count];
    uint32_t at = 0;

    for (uint32_t child = 1; child < frames->count; child = 2 * at + 1) {
        if (child + 1 < frames->count && before(&frames->held[child + 1], &frames->held[child]))
            child++;
        if (!before(&frames->held[child], last))
            break;
        frames->held[at] = frames->held[child];
        at = child;
    }
    frames->held[at] = *last;
}
