/* SPDX-License-Identifier: Apache-2.0 */
#include "windows.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Reads one decimal number and moves on behind it; false when there is none. */
static bool
read_number(const char **text, uint64_t *number)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

static bool
read_window(const char *text, struct window *window)
{
    if (!read_number(&text, &window->begin) || *text++ != ' ')
        return false;
    return read_number(&text, &window->end) && *text == '\n' && window->begin <= window->end;
}

static int
add(struct windows *windows, const struct window *window)
{
    const size_t count = windows->count;

    if (count > 0 && window->begin <= windows->list[count - 1].end)
        return -EINVAL;
    /* Grows at powers of two. */
    if ((count & (count - 1)) == 0) {
        const size_t room = count > 0 ? 2 * count : 1;
        struct window *list = realloc(windows->list, room * sizeof(*list));

        if (!list)
            return -ENOMEM;
        windows->list = list;
    }
    windows->list[windows->count++] = *window;
    return 0;
}

int
windows_read(struct windows *windows, FILE *file, size_t *line)
{
    /* Two numbers of 20 digits, a space, a newline. */
    char text[64];
    struct window window;
    int status = 0;

    *windows = (struct windows){0};
    for (*line = 1; status == 0 && fgets(text, sizeof(text), file); ++*line)
        status = read_window(text, &window) ? add(windows, &window) : -EINVAL;
    --*line;
    return status;
}

void
windows_free(struct windows *windows)
{
    free(windows->list);
    *windows = (struct windows){0};
}

bool
windows_contain(const struct windows *windows, uint64_t time)
{
    size_t first = 0, behind = windows->count;

    while (first < behind) {
        const size_t middle = first + (behind - first) / 2;

        if (windows->list[middle].end < time)
            first = middle + 1;
        else
            behind = middle;
    }
    return first < windows->count && windows->list[first].begin <= time;
}
