/* SPDX-License-Identifier: Apache-2.0 */
#include "file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Reads to the end of the file; -errno on failure. */
static int
read_all(int fd, char **text, size_t *bytes)
{
    size_t room = 0;
    ssize_t count = 1;

    for (*bytes = 0; count > 0; *bytes += (size_t)count) {
        if (room - *bytes < 4096) {
            room = room > 0 ? 2 * room : 16384;
            char *larger = realloc(*text, room);

            if (!larger)
                return -ENOMEM;
            *text = larger;
        }
        count = read(fd, *text + *bytes, room - *bytes - 1);
        if (count < 0)
            return -errno;
    }
    (*text)[*bytes] = '\0';
    return 0;
}

char *
file_text(const char *path, size_t *bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = NULL;

    if (fd < 0)
        return NULL;
    const int status = read_all(fd, &text, bytes);

    close(fd);
    if (status != 0) {
        free(text);
        errno = -status;
        return NULL;
    }
    return text;
}
