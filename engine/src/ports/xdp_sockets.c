/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/xdp_sockets.h"

#include <dirent.h>
#include <linux/if_xdp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

static bool
is_xdp(int fd)
{
    int domain;
    socklen_t size = sizeof(domain);

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_XDP;
}

static bool
has(const struct xdp_sockets *sockets, int fd)
{
    for (uint32_t i = 0; i < sockets->count; i++) {
        if (sockets->fd[i] == fd)
            return true;
    }
    return false;
}

void
xdp_sockets_since(struct xdp_sockets *sockets, const struct xdp_sockets *earlier)
{
    DIR *open_files = opendir("/proc/self/fd");
    const struct dirent *each;

    sockets->count = 0;
    if (!open_files)
        return;
    while ((each = readdir(open_files)) && sockets->count < PORT_QUEUES_MAX) {
        const int fd = atoi(each->d_name);

        if (is_xdp(fd) && !has(earlier, fd))
            sockets->fd[sockets->count++] = fd;
    }
    closedir(open_files);
}

void
xdp_sockets_list(struct xdp_sockets *sockets)
{
    static const struct xdp_sockets none;

    xdp_sockets_since(sockets, &none);
}

uint64_t
xdp_sockets_ring_full(const struct xdp_sockets *sockets)
{
    uint64_t frames = 0;

    for (uint32_t i = 0; i < sockets->count; i++) {
        /* A kernel before 5.9 leaves out what it does not count. */
        struct xdp_statistics statistics = {0};
        socklen_t size = sizeof(statistics);

        if (getsockopt(sockets->fd[i], SOL_XDP, XDP_STATISTICS, &statistics, &size) == 0)
            frames += statistics.rx_ring_full;
    }
    return frames;
}
