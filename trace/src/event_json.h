/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "event_formats.h"

struct event_record {
    uint64_t time;
    int cpu;
    const void *data;
    size_t bytes;
};

/*
 * Writes an event as a line of JSON: {"tsc": …, "cpu": …, "name": …, "fields": {…}}. Numbers are
 * numbers, text is text, functions are names, other addresses hexadecimal text, sets of CPUs
 * lists as "0,2". Fields of other kinds, and such that do not lie in the record, are left out.
 */
void event_json_write(FILE *out, struct event_formats *formats, struct tep_event *event,
                      const struct event_record *record);
