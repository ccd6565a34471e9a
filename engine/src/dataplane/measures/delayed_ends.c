/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/delayed_ends.h"

#include <stddef.h>
#include <string.h>

_Static_assert(DELAYED_ENDS_SLOTS >= 2 * DELAYED_ENDS_MAX, "a search ends at an empty slot");
_Static_assert((DELAYED_ENDS_SLOTS & (DELAYED_ENDS_SLOTS - 1)) == 0, "slots are found by a mask");

void
delayed_ends_clear(struct delayed_ends *ends)
{
    memset(ends, 0, offsetof(struct delayed_ends, entry));
}

/* Neighbours in one of the two ends, as the frames of one stall have, go to slots far apart. */
static uint32_t
first_slot(uint16_t low, uint16_t high)
{
    const uint32_t both = (uint32_t)low << 16 | high;

    return both * UINT32_C(2654435761) >> 16 & (DELAYED_ENDS_SLOTS - 1);
}

static void
note(struct delayed_ends *ends, uint16_t low, uint16_t high, uint64_t frames)
{
    uint32_t slot = first_slot(low, high);

    for (; ends->slots[slot] > 0; slot = (slot + 1) & (DELAYED_ENDS_SLOTS - 1)) {
        struct delayed_end *entry = &ends->entry[ends->slots[slot] - 1];

        if (entry->low == low && entry->high == high) {
            entry->frames += frames;
            return;
        }
    }
    if (ends->count == DELAYED_ENDS_MAX) {
        ends->left_out += frames;
        return;
    }
    ends->entry[ends->count++] = (struct delayed_end){.low = low, .high = high, .frames = frames};
    ends->slots[slot] = (uint16_t)ends->count;
}

void
delayed_ends_note(struct delayed_ends *ends, uint64_t low, uint64_t high, uint64_t frames)
{
    note(ends, (uint16_t)(histogram_index(low) / DELAYED_ENDS_COARSE),
         (uint16_t)(histogram_index(high) / DELAYED_ENDS_COARSE), frames);
}

void
delayed_ends_add(struct delayed_ends *into, const struct delayed_ends *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        note(into, from->entry[i].low, from->entry[i].high, from->entry[i].frames);
    into->left_out += from->left_out;
}
