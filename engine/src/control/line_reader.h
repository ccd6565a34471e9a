/* SPDX-License-Identifier: Apache-2.0 */
/* Lines from a descriptor, with a bound on their length, without blocking past a time-out. */
#ifndef PLIMSOLL_LINE_READER_H
#define PLIMSOLL_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

/* 64 streams of jumbo frames in hexadecimal are 1.2 MB. */
#define LINE_MAX_BYTES (4u << 20)

struct line_reader {
    int fd;
    char *buffer;
    size_t used;
    size_t taken;  /* bytes of the line given out last, newline included */
    bool too_long; /* the rest of an over-long line is being passed over */
};

enum line_status {
    LINE_READY,
    LINE_NONE,     /* nothing complete within the time-out */
    LINE_TOO_LONG, /* told once a line; what follows it is read as usual */
    LINE_END,      /* the peer closed, or the descriptor failed */
};

/* Returns 0 or -ENOMEM. */
int line_reader_open(struct line_reader *reader, int fd);
void line_reader_close(struct line_reader *reader);

/* `*line` ends with NUL in place of the newline and is good until the next call. */
enum line_status line_reader_next(struct line_reader *reader, int timeout_ms, char **line);

#endif
