/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines from a descriptor, with a bound on their length, without blocking past a time-out.
 * The buffer grows with the line that it holds and shrinks again once that was taken.
 */
#ifndef PLIMSOLL_LINE_READER_H
#define PLIMSOLL_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

/* The newline included. 4096 frames of 1518 bytes in hexadecimal are 12.4 MB. */
#define LINE_MAX_BYTES (32u << 20)
/* What the buffer holds at first, and goes back to: more than most requests, and a pipe's all. */
#define LINE_USUAL_BYTES (64u << 10)

struct line_reader {
    int fd;
    char *buffer;
    size_t size;     /* bytes that the buffer has room for */
    size_t begin;    /* where the first line not given out starts */
    size_t searched; /* up to here that line has no newline */
    size_t end;      /* of what was read */
    bool too_long;   /* the rest of an over-long line is being passed over */
};

enum line_status {
    LINE_READY,
    LINE_NONE,     /* nothing complete within the time-out */
    LINE_TOO_LONG, /* or more than there is memory for; reported once, the next line is read as
                      usual */
    LINE_WITH_NUL, /* the line is dropped: what reads it would end at the NUL */
    LINE_END,      /* the peer closed, or the descriptor failed */
};

/* Returns 0 or -ENOMEM. */
int line_reader_open(struct line_reader *reader, int fd);
void line_reader_close(struct line_reader *reader);

/*
 * `*line` is set with LINE_READY alone: it ends with NUL in place of the newline, has no
 * other, and is good until the next call.
 */
enum line_status line_reader_next(struct line_reader *reader, int timeout_ms, char **line);

#endif
