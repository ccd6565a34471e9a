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
    *reader = (struct line_reader){.fd = fd, .buffer = malloc(LINE_MAX_BYTES)};
    return reader->buffer ? 0 : -ENOMEM;
}

void
line_reader_close(struct line_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
}

static void
drop_taken(struct line_reader *reader)
{
    reader->used -= reader->taken;
    memmove(reader->buffer, reader->buffer + reader->taken, reader->used);
    reader->taken = 0;
}

/* Gives out a line the buffer holds already. */
static enum line_status
from_buffer(struct line_reader *reader, char **line)
{
    char *newline = memchr(reader->buffer, '\n', reader->used);

    if (!newline)
        return LINE_NONE;
    *newline = '\0';
    reader->taken = (size_t)(newline - reader->buffer) + 1;
    *line = reader->buffer;
    if (!reader->too_long)
        return LINE_READY;
    /* That was the tail of the over-long line. */
    reader->too_long = false;
    drop_taken(reader);
    return from_buffer(reader, line);
}

/* Reads once, waiting at most `timeout_ms`; a signal ends the wait as a time-out does. */
static enum line_status
fill(struct line_reader *reader, int timeout_ms)
{
    struct pollfd wait = {.fd = reader->fd, .events = POLLIN};
    ssize_t got;

    if (poll(&wait, 1, timeout_ms) <= 0)
        return LINE_NONE;
    got = read(reader->fd, reader->buffer + reader->used, LINE_MAX_BYTES - reader->used);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return LINE_NONE;
    if (got <= 0)
        return LINE_END;
    reader->used += (size_t)got;
    return LINE_READY;
}

enum line_status
line_reader_next(struct line_reader *reader, int timeout_ms, char **line)
{
    enum line_status status;

    drop_taken(reader);
    status = from_buffer(reader, line);
    if (status != LINE_NONE)
        return status;
    status = fill(reader, timeout_ms);
    if (status != LINE_READY)
        return status;
    status = from_buffer(reader, line);
    if (status == LINE_NONE && reader->used == LINE_MAX_BYTES) {
        const bool told = reader->too_long;

        reader->too_long = true;
        reader->used = 0;
        return told ? LINE_NONE : LINE_TOO_LONG;
    }
    return status;
}
