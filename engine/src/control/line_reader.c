/* SPDX-License-Identifier: Apache-2.0 */
#include "control/line_reader.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
line_reader_open(struct line_reader *reader, int fd)
{
    *reader = (struct line_reader){.fd = fd, .buffer = malloc(LINE_USUAL_BYTES)};
    if (!reader->buffer)
        return -ENOMEM;
    reader->size = LINE_USUAL_BYTES;
    return 0;
}

void
line_reader_close(struct line_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
}

/* Takes the next complete line out of the buffer, if it holds one. */
static enum line_status
from_buffer(struct line_reader *reader, char **line)
{
    char *first = reader->buffer + reader->begin;
    char *newline = memchr(reader->buffer + reader->searched, '\n', reader->end - reader->searched);

    reader->searched = reader->end;
    if (!newline)
        return LINE_NONE;
    *newline = '\0';
    reader->begin = reader->searched = (size_t)(newline + 1 - reader->buffer);
    if (reader->too_long) {
        /* That was the tail of the over-long line. */
        reader->too_long = false;
        return from_buffer(reader, line);
    }
    if (memchr(first, '\0', (size_t)(newline - first)))
        return LINE_WITH_NUL;
    *line = first;
    return LINE_READY;
}

/* Changes the buffer's size; false without memory, the buffer then as it was. */
static bool
resize(struct line_reader *reader, size_t size)
{
    char *buffer = realloc(reader->buffer, size);

    if (!buffer)
        return false;
    reader->buffer = buffer;
    reader->size = size;
    return true;
}

/* Lines given out leave the buffer, and the room that only a long one took goes back. */
static void
drop_given(struct line_reader *reader)
{
    if (reader->begin > 0)
        memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
    reader->searched -= reader->begin;
    reader->end -= reader->begin;
    reader->begin = 0;
    if (reader->size > LINE_USUAL_BYTES && reader->end < LINE_USUAL_BYTES)
        resize(reader, LINE_USUAL_BYTES);
}

/* Makes room to read into, after from_buffer() found no line; false when there is none. */
static bool
make_room(struct line_reader *reader)
{
    if (reader->too_long)
        reader->begin = reader->searched = reader->end;
    drop_given(reader);
    if (reader->end < reader->size)
        return true;
    return reader->size < LINE_MAX_BYTES && resize(reader, 2 * reader->size);
}

/* Reads once, waiting at most `timeout_ms`; a signal ends the wait as a time-out does. */
static enum line_status
fill(struct line_reader *reader, int timeout_ms)
{
    struct pollfd wait = {.fd = reader->fd, .events = POLLIN};
    ssize_t got;

    if (poll(&wait, 1, timeout_ms) <= 0)
        return LINE_NONE;
    got = read(reader->fd, reader->buffer + reader->end, reader->size - reader->end);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return LINE_NONE;
    if (got <= 0)
        return LINE_END;
    reader->end += (size_t)got;
    return LINE_READY;
}

enum line_status
line_reader_next(struct line_reader *reader, int timeout_ms, char **line)
{
    enum line_status status = from_buffer(reader, line);

    if (status != LINE_NONE)
        return status;
    if (!make_room(reader)) {
        reader->too_long = true;
        return LINE_TOO_LONG;
    }
    status = fill(reader, timeout_ms);
    return status == LINE_READY ? from_buffer(reader, line) : status;
}
