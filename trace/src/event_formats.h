/* SPDX-License-Identifier: Apache-2.0 */
/* How the events of a trace directory are laid out, as its format files say. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <traceevent/event-parse.h>

#include "symbols.h"

struct event_formats {
    struct tep_handle *tep;
    size_t page_bytes; /* of the ring buffer's pages */
    size_t data_at;    /* where a page's events begin */
    struct symbols *symbols;
};

/*
 * Reads events/header_page and the formats of all events that set_event lists as enabled.
 * Functions are named by `symbols`, which must outlive the formats. Returns 0 or a negative errno,
 * what failed then on stderr.
 */
int event_formats_read(struct event_formats *formats, const char *directory,
                       struct symbols *symbols);

void event_formats_free(struct event_formats *formats);
