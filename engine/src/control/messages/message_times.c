/* SPDX-License-Identifier: Apache-2.0 */
#include "control/messages/message_times.h"

static json_t *
unsigned_integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* A stamp from nowhere may lie before the TSC began to count. */
static json_t *
send_time(uint64_t tsc)
{
    return unsigned_integer((int64_t)tsc < 0 ? 0 : tsc);
}

static json_t *
worst_json(const struct worst_latency *worst)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "sequence",
                     unsigned_integer(worst->sequence), "frames", unsigned_integer(worst->frames),
                     "sent_tsc", send_time(worst->received_at - worst->latency), "received_tsc",
                     unsigned_integer(worst->received_at), "across_stall", (int)(worst->delay > 0),
                     "delayed_ticks", unsigned_integer(worst->delay));
}

static void
add_worst(json_t *stream, const struct worst_latencies *list, const struct list_lengths *lengths)
{
    uint64_t left_out = list->spike_frames;
    json_t *array = json_array();

    for (uint32_t i = 0; i < list->count && i < lengths->spikes; i++) {
        const struct worst_latency *worst = &list->worst[i];
        const bool spike = worst->latency >= list->spike;

        if (!spike && i >= lengths->worst)
            break;
        left_out -= spike ? worst->frames : 0;
        json_array_append_new(array, worst_json(worst));
    }
    json_object_set_new(stream, "worst", array);
    json_object_set_new(stream, "spikes_left_out", unsigned_integer(left_out));
}

static json_t *
loss_json(const struct loss_event *event)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "first", unsigned_integer(event->first),
                     "frames", unsigned_integer(event->frames), "filled",
                     unsigned_integer(event->filled), "after_tsc",
                     event->after > 0 ? send_time(event->after) : json_null(), "before_tsc",
                     send_time(event->before), "seen_tsc", unsigned_integer(event->seen_at));
}

static void
add_losses(json_t *stream, const struct loss_events *list, uint32_t most)
{
    uint64_t events = list->left_out_events, frames = list->left_out_frames;
    json_t *array = json_array();

    for (uint32_t i = 0; i < list->count; i++) {
        const struct loss_event *event = &list->event[i];

        if (i < most) {
            json_array_append_new(array, loss_json(event));
            continue;
        }
        events++;
        frames += event->frames - event->filled;
    }
    json_object_set_new(stream, "losses", array);
    json_object_set_new(stream, "losses_left_out",
                        json_pack("{s:o, s:o}", "events", unsigned_integer(events), "frames",
                                  unsigned_integer(frames)));
}

static void
add_refusals(json_t *stream, const struct refusals *list, uint32_t most)
{
    uint64_t events = list->left_out_events, frames = list->left_out_frames;
    json_t *array = json_array();

    for (uint32_t i = 0; i < list->count; i++) {
        const struct refusal *event = &list->event[i];

        if (i < most) {
            json_array_append_new(array, json_pack("{s:o, s:o, s:o}", "first_tsc",
                                                   unsigned_integer(event->first), "last_tsc",
                                                   unsigned_integer(event->last), "frames",
                                                   unsigned_integer(event->frames)));
            continue;
        }
        events++;
        frames += event->frames;
    }
    json_object_set_new(stream, "refusals", array);
    json_object_set_new(stream, "refusals_left_out",
                        json_pack("{s:o, s:o}", "events", unsigned_integer(events), "frames",
                                  unsigned_integer(frames)));
}

void
message_times_add(json_t *stream, const struct stream_counts *counts,
                  const struct list_lengths *lengths)
{
    add_worst(stream, &counts->worst, lengths);
    add_losses(stream, &counts->losses, lengths->losses);
    add_refusals(stream, &counts->refusals, lengths->losses);
}

void
message_stamps_add(json_t *stream, const struct run *run, const struct stream_counts *counts)
{
    json_t *stamps = json_object();

    for (uint32_t i = 0; i < PROBE_OUTCOMES; i++)
        json_object_set_new(stamps, probe_outcome_names[i],
                            unsigned_integer(counts->stamp_outcomes[i]));
    json_object_set_new(stamps, "error_ns",
                        unsigned_integer(ticks_to_ns(run, counts->stamp_error)));
    json_object_set_new(stream, "stamps", stamps);
}

json_t *
message_clock(const struct trial *trial)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < trial->clock.count; i++) {
        const struct clock_reading *reading = &trial->clock.reading[i];

        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:o}", "tsc", unsigned_integer(reading->tsc),
                             "raw_ns", unsigned_integer(reading->raw_ns), "unix_ns",
                             unsigned_integer(reading->unix_ns), "width_ns",
                             unsigned_integer(ticks_to_ns(trial->run, reading->width))));
    }
    return array;
}
