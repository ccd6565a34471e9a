/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/refusals.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void
refusals_clear(struct refusals *list)
{
    memset(list, 0, offsetof(struct refusals, event));
}

static void
leave_out(struct refusals *list, const struct refusal *event)
{
    list->left_out_events++;
    list->left_out_frames += event->frames;
}

static void
keep(struct refusals *list, struct refusal event)
{
    uint32_t smallest = 0;

    if (list->count < REFUSALS_MAX) {
        list->event[list->count++] = event;
        return;
    }
    for (uint32_t i = 1; i < REFUSALS_MAX; i++) {
        if (list->event[i].frames < list->event[smallest].frames)
            smallest = i;
    }
    if (event.frames <= list->event[smallest].frames) {
        leave_out(list, &event);
        return;
    }
    leave_out(list, &list->event[smallest]);
    list->event[smallest] = event;
}

void
refusals_note(struct refusals *list, uint64_t now, uint64_t frames, uint64_t apart)
{
    if (list->open.frames > 0 && now - list->open.last < apart) {
        list->open.last = now;
        list->open.frames += frames;
        return;
    }
    if (list->open.frames > 0)
        keep(list, list->open);
    list->open = (struct refusal){.first = now, .last = now, .frames = frames};
}

void
refusals_add(struct refusals *into, const struct refusals *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        keep(into, from->event[i]);
    if (from->open.frames > 0)
        keep(into, from->open);
    into->left_out_events += from->left_out_events;
    into->left_out_frames += from->left_out_frames;
}

static int
larger_first(const void *a, const void *b)
{
    const struct refusal *left = a, *right = b;

    return (left->frames < right->frames) - (left->frames > right->frames);
}

void
refusals_sort(struct refusals *list)
{
    qsort(list->event, list->count, sizeof(list->event[0]), larger_first);
}
