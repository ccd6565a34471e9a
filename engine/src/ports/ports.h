/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's ports: opened once, used by every trial of the process. */
#ifndef PLIMSOLL_PORTS_H
#define PLIMSOLL_PORTS_H

#include <rte_ethdev.h>

#include "control/complaint.h"
#include "control/request.h"

struct port {
    uint16_t dpdk_port;
    struct rte_mempool *tx_pool;
    struct rte_mempool *rx_pool;
};

struct ports {
    uint32_t count;
    struct port port[PORTS_MAX];
};

/*
 * Configures and starts every port with one queue each way, then waits up to
 * request->link_wait_s for all links. Returns 0 or a negative errno with the port
 * named in the complaint; what was started stays for ports_close() to end.
 */
int ports_open(struct ports *ports, const struct open_request *request,
               struct complaint *complaint);

void ports_close(struct ports *ports);

bool port_link_up(const struct port *port);

#endif
