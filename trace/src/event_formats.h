/* SPDX-License-Identifier: Apache-2.0 */
/* How the events of a trace directory are laid out, as its format files say. */
#pragma once

#include <stddef.h>
#include <traceevent/event-parse.h>

struct event_formats {
    struct tep_handle *tep;
    size_t page_bytes; /* of the ring buffer's pages */
    size_t data_at;    /* where a page's events begin */
};

/*
 * Reads events/header_page and the formats of all events that set_event lists as enabled.
 * Returns 0 or a negative errno, what failed then on stderr.
 */
int event_formats_read(struct event_formats *formats, const char *directory);

/*
 * Reads kernel symbols from a file such as /proc/kallsyms, to name functions by. Returns 0 or a
 * negative errno.
 */
int event_formats_read_symbols(struct event_formats *formats, const char *path);

void event_formats_free(struct event_formats *formats);
