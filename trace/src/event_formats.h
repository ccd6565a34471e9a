/* SPDX-License-Identifier: Apache-2.0 */
/* How the events of a trace directory are laid out, as its format files say. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <traceevent/event-parse.h>

struct event_formats {
    struct tep_handle *tep;
    size_t page_bytes;   /* of the ring buffer's pages */
    size_t data_at;      /* where a page's events begin */
    const char *symbols; /* a file such as /proc/kallsyms, yet to be read; NULL for none */
};

/*
 * Reads events/header_page and the formats of all events that set_event lists as enabled.
 * Returns 0 or a negative errno, what failed then on stderr.
 */
int event_formats_read(struct event_formats *formats, const char *directory, const char *symbols);

/*
 * The name of the kernel's function that holds an address; NULL when it is unknown. The first call
 * reads `symbols`, which takes most of a tenth of a second.
 */
const char *event_formats_function(struct event_formats *formats, uint64_t address);

void event_formats_free(struct event_formats *formats);
