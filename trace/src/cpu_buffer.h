/* SPDX-License-Identifier: Apache-2.0 */
/* The ring buffer of one CPU, read page by page and thereby emptied. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "event_formats.h"
#include "windows.h"

struct cpu_buffer_totals {
    uint64_t read;          /* events in the buffer */
    uint64_t kept;          /* of these written */
    uint64_t left_out;      /* in a window, but above the limit */
    uint64_t damaged_pages; /* their events from the damage on were not read */
    uint64_t gaps;          /* pages before which the kernel says that it lost events */
    uint64_t first, last;   /* times of the first and last event read, 0 without any */
    uint64_t complete_from; /* of the first event behind the last gap, or as `first` */
};

/*
 * Reads a file of raw pages to its end, as far as that is there now, and writes the events inside
 * `windows` to `out`, at most `limit` of them. Returns 0 or a negative errno.
 */
int cpu_buffer_read(int fd, int cpu, struct event_formats *formats, const struct windows *windows,
                    uint64_t limit, FILE *out, struct cpu_buffer_totals *totals);
