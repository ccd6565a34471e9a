/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

static json_t *
report_ports(const struct dut *dut)
{
    json_t *ports = json_array();

    for (uint16_t i = 0; i < dut->port_count; i++)
        json_array_append_new(ports,
                              json_pack("{s:I, s:I}", "received", (json_int_t)dut->received[i],
                                        "sent", (json_int_t)dut->sent[i]));
    return ports;
}

static json_t *
report_wrongs(const struct path_behaviour *behaviour)
{
    json_t *wrongs = json_array();

    for (uint32_t i = 0; i < behaviour->wrong_count; i++)
        json_array_append_new(wrongs, json_integer((json_int_t)behaviour->wrongs[i].applied));
    return wrongs;
}

static json_t *
report_path(const struct path *path)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "without_signature",
                     (json_int_t)path->without_signature, "withheld", (json_int_t)path->withheld,
                     "misfits", (json_int_t)path->misfits, "unmade", (json_int_t)path->unmade,
                     "overfull", (json_int_t)path->overfull, "refusals", (json_int_t)path->refusals,
                     "held", (json_int_t)path->held.count, "aside", (json_int_t)path->aside_count,
                     "applied", report_wrongs(path->behaviour));
}

static json_t *
report_paths(const struct dut *dut)
{
    json_t *paths = json_array();

    for (uint32_t i = 0; i < dut->behaviour.path_count; i++)
        json_array_append_new(paths, report_path(&dut->paths[i]));
    return paths;
}

static json_t *
report_actions(void)
{
    json_t *actions = json_array();

    for (uint32_t i = 0; i < ACTIONS; i++)
        json_array_append_new(actions, json_string(action_names[i]));
    return actions;
}

static json_t *
report_sent(const struct dut *dut)
{
    json_t *port = json_array(), *stream = json_array(), *sequence = json_array(),
           *way = json_array(), *hold = json_array(), *uncertainty = json_array(),
           *late = json_array(), *done = json_array();

    for (uint64_t i = 0; i < dut->record_count; i++) {
        const struct record *record = &dut->records[i];

        json_array_append_new(port, json_integer(record->port));
        json_array_append_new(stream, json_integer(record->stream));
        json_array_append_new(sequence, json_integer((json_int_t)record->sequence));
        json_array_append_new(way, json_integer((json_int_t)record->way));
        json_array_append_new(hold, json_integer((json_int_t)record->hold));
        json_array_append_new(uncertainty, json_integer((json_int_t)record->uncertainty));
        json_array_append_new(late, json_integer((json_int_t)record->late));
        json_array_append_new(done, json_integer(record->done));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "port", port, "stream", stream,
                     "sequence", sequence, "way", way, "hold", hold, "uncertainty", uncertainty,
                     "late", late, "done", done);
}

json_t *
report(const struct dut *dut)
{
    return json_pack("{s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:I}", "polls", (json_int_t)dut->polls,
                     "longest_turn", (json_int_t)dut->longest_turn, "tsc_hz", dut->tsc_hz, "ports",
                     report_ports(dut), "paths", report_paths(dut), "actions", report_actions(),
                     "sent", report_sent(dut), "unrecorded", (json_int_t)dut->unrecorded);
}
