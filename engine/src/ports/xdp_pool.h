/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLIMSOLL_PORTS_XDP_POOL_H
#define PLIMSOLL_PORTS_XDP_POOL_H

#include <rte_mempool.h>

/*
 * A pool of mbufs for a receive queue of AF_XDP, whose driver registers it with the kernel and has
 * copies of what it sends in it. The driver (up to 24.11) takes it for one area without gaps, and
 * the kernel drops what lies beyond as invalid while the driver has it sent: such mbufs are never
 * handed out here. NULL, with rte_errno, where there is no memory.
 */
struct rte_mempool *xdp_pool_create(const char *name, uint32_t mbufs, uint32_t cache, uint16_t room,
                                    int socket);

#endif
