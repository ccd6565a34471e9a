/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/loss_events.h"

#include <stdlib.h>
#include <string.h>

void
loss_events_clear(struct loss_events *list)
{
    list->count = 0;
    list->smallest = 0;
    list->left_out_events = 0;
    list->left_out_frames = 0;
}

static uint32_t
find_smallest(const struct loss_events *list)
{
    uint32_t smallest = 0;

    for (uint32_t i = 1; i < list->count; i++) {
        if (list->event[i].frames < list->event[smallest].frames)
            smallest = i;
    }
    return smallest;
}

static void
remove_event(struct loss_events *list, uint32_t at)
{
    list->count--;
    memmove(&list->event[at], &list->event[at + 1], (list->count - at) * sizeof(list->event[0]));
}

static void
leave_out(struct loss_events *list, const struct loss_event *event)
{
    list->left_out_events++;
    list->left_out_frames += event->frames - event->filled;
}

void
loss_events_note(struct loss_events *list, struct loss_event event)
{
    if (list->count == LOSS_EVENTS_MAX) {
        if (event.frames <= list->smallest) {
            leave_out(list, &event);
            return;
        }
        const uint32_t smallest = find_smallest(list);

        leave_out(list, &list->event[smallest]);
        remove_event(list, smallest);
    }
    list->event[list->count++] = event;
    if (list->count == LOSS_EVENTS_MAX)
        list->smallest = list->event[find_smallest(list)].frames;
}

/* How many numbers from `first` to before `end` the event is missing. */
static uint64_t
overlap(const struct loss_event *event, uint64_t first, uint64_t end)
{
    const uint64_t from = event->first > first ? event->first : first;
    const uint64_t event_end = event->first + event->frames;
    const uint64_t upto = event_end < end ? event_end : end;

    return upto > from ? upto - from : 0;
}

/* Of gaps that are not in the list it is not known which were filled; there is at least a
 * frame missing in each that is left. */
static void
fill_left_out(struct loss_events *list, uint64_t frames)
{
    list->left_out_frames -= frames < list->left_out_frames ? frames : list->left_out_frames;
    if (list->left_out_events > list->left_out_frames)
        list->left_out_events = list->left_out_frames;
}

/* From the newest on: late frames mostly fill the last gaps. */
void
loss_events_fill(struct loss_events *list, uint64_t first, uint64_t frames)
{
    const uint64_t end = first + frames;
    uint64_t found = 0;

    for (uint32_t i = list->count; i > 0; i--) {
        struct loss_event *event = &list->event[i - 1];

        if (event->first + event->frames <= first)
            break;
        const uint64_t part = overlap(event, first, end);
        found += part;
        event->filled += part;
        if (event->filled >= event->frames)
            remove_event(list, i - 1);
    }
    fill_left_out(list, frames - found);
}

void
loss_events_add(struct loss_events *into, const struct loss_events *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        loss_events_note(into, from->event[i]);
    into->left_out_events += from->left_out_events;
    into->left_out_frames += from->left_out_frames;
}

static int
larger_first(const void *a, const void *b)
{
    const struct loss_event *left = a, *right = b;

    if (left->frames != right->frames)
        return left->frames < right->frames ? 1 : -1;
    return (left->first > right->first) - (left->first < right->first);
}

void
loss_events_sort(struct loss_events *list)
{
    qsort(list->event, list->count, sizeof(list->event[0]), larger_first);
}

void
late_ranges_note(struct late_ranges *late, uint64_t number)
{
    struct late_range *last = late->count > 0 ? &late->range[late->count - 1] : NULL;

    if (last && number == last->first + last->frames)
        last->frames++;
    else if (late->count < LATE_RANGES_MAX)
        late->range[late->count++] = (struct late_range){.first = number, .frames = 1};
}
