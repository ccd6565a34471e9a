/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/send_buffers.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

/* The kernel doubles it, for its own needs next to the frames. */
#define WIDEST (INT_MAX / 2)

static bool
is_ours_to_widen(int fd)
{
    int domain;
    socklen_t size = sizeof(domain);

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
           (domain == AF_PACKET || domain == AF_XDP);
}

void
send_buffers_widen(void)
{
    const int widest = WIDEST;
    DIR *open_files = opendir("/proc/self/fd");
    const struct dirent *each;

    if (!open_files)
        return;
    while ((each = readdir(open_files))) {
        const int fd = atoi(each->d_name);

        if (is_ours_to_widen(fd) &&
            setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &widest, sizeof(widest)) != 0)
            setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &widest, sizeof(widest));
    }
    closedir(open_files);
}
