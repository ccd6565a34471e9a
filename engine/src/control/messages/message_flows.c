/* SPDX-License-Identifier: Apache-2.0 */
#include "control/messages/message_flows.h"

/* A flow without a timed frame has no shortest or longest latency. */
static json_t *
latency_json(const struct flow_counter *flow, uint32_t latency)
{
    return flow->timed > 0 ? json_integer(latency) : json_null();
}

static void
append(json_t *array, uint64_t value)
{
    json_array_append_new(array, json_integer((json_int_t)value));
}

void
message_flows_add(json_t *stream, const struct flow_counts *counts, uint64_t sent)
{
    json_t *sent_by = json_array(), *received = json_array(), *duplicate = json_array();
    json_t *timed = json_array(), *sum = json_array(), *min = json_array(), *max = json_array();

    for (uint32_t i = 0; i < counts->count; i++) {
        const struct flow_counter *flow = &counts->flows[i];

        append(sent_by, flow_counts_sent(counts, sent, i));
        append(received, flow->received);
        append(duplicate, counts->duplicates[i]);
        append(timed, flow->timed);
        append(sum, flow->latency_sum);
        json_array_append_new(min, latency_json(flow, flow->latency_min));
        json_array_append_new(max, latency_json(flow, flow->latency_max));
    }
    json_object_set_new(stream, "flows",
                        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sent", sent_by,
                                  "received", received, "duplicate", duplicate, "timed", timed,
                                  "latency_sum_ns", sum, "latency_min_ns", min, "latency_max_ns",
                                  max));
}
