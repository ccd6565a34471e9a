/* SPDX-License-Identifier: Apache-2.0 */
#include "event_formats.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_text.h"

/* A page's events lie behind its time stamp and its length. The largest page the kernel makes
 * (buffer_subbuf_size_kb) has 2^7 pages of 4 KiB. */
enum { PAGE_HEADER_BYTES = 16, PAGE_BYTES_MAX = 1 << 19 };

static int
failed(const char *path, int error)
{
    fprintf(stderr, "plimsoll-trace: %s: %s\n", path, strerror(error));
    return -error;
}

/* Takes from header_page where a page's data begins and how long it is. */
static int
read_page_layout(struct event_formats *formats, const char *directory)
{
    char path[PATH_MAX];
    unsigned int offset = 0, bytes = 0;
    size_t length;

    snprintf(path, sizeof(path), "%s/events/header_page", directory);
    char *text = file_text(path, &length);

    if (!text)
        return failed(path, errno);
    const char *data = strstr(text, " data;");
    const int found = data ? sscanf(data, " data; offset:%u; size:%u;", &offset, &bytes) : 0;

    free(text);
    if (found != 2 || offset != PAGE_HEADER_BYTES || bytes > PAGE_BYTES_MAX)
        return failed(path, EPROTO);
    formats->data_at = offset;
    formats->page_bytes = offset + bytes;
    return 0;
}

/* Reads the format of the event that a line of set_event names as SYSTEM:EVENT. */
static int
read_format(struct event_formats *formats, const char *directory, const char *line)
{
    char path[PATH_MAX], system[NAME_MAX], event[NAME_MAX];
    size_t bytes;

    /* A name of our own may hold "/": only what the kernel can have written is a path. */
    if (sscanf(line, "%200[a-zA-Z0-9_-]:%200[a-zA-Z0-9_-]", system, event) != 2)
        return failed(line, EPROTO);
    snprintf(path, sizeof(path), "%s/events/%s/%s/format", directory, system, event);
    char *text = file_text(path, &bytes);

    if (!text)
        return failed(path, errno);
    /* An event whose print format the library does not understand still has its fields. */
    const enum tep_errno status = tep_parse_event(formats->tep, text, bytes, system);

    free(text);
    return status == TEP_ERRNO__MEM_ALLOC_FAILED ? -ENOMEM : 0;
}

static int
read_enabled_formats(struct event_formats *formats, const char *directory)
{
    char path[PATH_MAX], *rest;
    size_t bytes;
    int status = 0;

    snprintf(path, sizeof(path), "%s/set_event", directory);
    char *text = file_text(path, &bytes);

    if (!text)
        return failed(path, errno);
    for (char *line = strtok_r(text, "\n", &rest); line && status == 0;
         line = strtok_r(NULL, "\n", &rest))
        status = read_format(formats, directory, line);
    free(text);
    return status;
}

int
event_formats_read(struct event_formats *formats, const char *directory, struct symbols *symbols)
{
    /* The library warns of print formats that it does not know; nothing is printed by them. */
    tep_set_loglevel(TEP_LOG_NONE);
    *formats = (struct event_formats){.tep = tep_alloc(), .symbols = symbols};
    if (!formats->tep)
        return -ENOMEM;
    tep_set_long_size(formats->tep, sizeof(long));
    const int status = read_page_layout(formats, directory);

    return status != 0 ? status : read_enabled_formats(formats, directory);
}

void
event_formats_free(struct event_formats *formats)
{
    if (formats->tep)
        tep_free(formats->tep);
    formats->tep = NULL;
}
