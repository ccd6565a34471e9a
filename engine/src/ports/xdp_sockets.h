/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLIMSOLL_PORTS_XDP_SOCKETS_H
#define PLIMSOLL_PORTS_XDP_SOCKETS_H

#include <stdint.h>

#include "config/limits.h"

/* AF_XDP sockets of this process, by their file descriptors. */
struct xdp_sockets {
    uint32_t count;
    int fd[PORT_QUEUES_MAX];
};

/* All that are open now. */
void xdp_sockets_list(struct xdp_sockets *sockets);

/* Of those that are open now, the ones that are not among `earlier`. */
void xdp_sockets_since(struct xdp_sockets *sockets, const struct xdp_sockets *earlier);

/*
 * Frames that the sockets' receive rings had no room for, since they were opened. DPDK's driver
 * counts as missed only those that found no buffer (up to 25.11).
 */
uint64_t xdp_sockets_ring_full(const struct xdp_sockets *sockets);

#endif
