/* SPDX-License-Identifier: Apache-2.0 */
/* The spans of time of which events are requested. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct window {
    uint64_t begin, end; /* both included, in the trace clock's unit */
};

struct windows {
    struct window *list;
    size_t count;
};

/*
 * Reads lines of "BEGIN END", decimal and ascending: each window begins after the one before it
 * has ended. Returns 0; -EINVAL on anything else, `line` then its number; -ENOMEM.
 */
int windows_read(struct windows *windows, FILE *file, size_t *line);

void windows_free(struct windows *windows);

bool windows_contain(const struct windows *windows, uint64_t time);
