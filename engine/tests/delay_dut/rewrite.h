/* SPDX-License-Identifier: Apache-2.0 */
/* Headers taken off, put on and changed, as a switch, a tunnel end or a NAT would. */
#ifndef DELAY_DUT_REWRITE_H
#define DELAY_DUT_REWRITE_H

#include <rte_mbuf.h>

#include "behaviour.h"

/*
 * Applies the path's rewrites and fills the frame up to the least Ethernet frame. Returns
 * 0, or -EINVAL when the frame is too short for one of them or has no room for it.
 */
int rewrite_frame(const struct path_behaviour *path, struct rte_mbuf *mbuf);

#endif
