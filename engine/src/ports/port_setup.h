/* SPDX-License-Identifier: Apache-2.0 */
/* The steps by which one port comes to life. */
#ifndef PLIMSOLL_PORT_SETUP_H
#define PLIMSOLL_PORT_SETUP_H

#include "ports/ports.h"

/*
 * Finds the device that DPDK has opened on a real bus, or makes a virtual one. Returns 0
 * or a negative errno; making one may be tried again, since a virtio-user device cannot
 * be made before its peer listens.
 */
int port_find(const struct port_request *request, uint16_t *dpdk_port);

/*
 * Gives the found port `number` its queues, buffers and offloads. Returns 0 or a negative
 * errno, and says in the error what the driver cannot do.
 */
int port_configure(struct port *port, uint32_t number, const struct open_request *request,
                   struct error *error);

/*
 * Starts the configured port. Returns 0 or a negative errno; may be tried again, since a
 * memif client cannot be started before its peer listens.
 */
int port_start(struct port *port);

#endif
