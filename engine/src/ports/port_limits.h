/* SPDX-License-Identifier: Apache-2.0 */
/* What a driver can do at most, and the error about a port of which more is requested. */
#ifndef PLIMSOLL_PORT_LIMITS_H
#define PLIMSOLL_PORT_LIMITS_H

#include "ports/ports.h"

/* Complains of ports[number]: what it does not do, and the errno's text. Returns `status`. */
int port_set_error(struct error *error, uint32_t number, int status, const char *what);

/*
 * Compares what is requested of the port with what its driver offers, and the frames with the
 * MTU of a kernel interface, which is its owner's and not changed. Returns 0 or a negative
 * errno, with the driver and its limit, or the remedy, in the error.
 */
int port_check_limits(const struct port_request *request, uint32_t number, uint32_t max_frame_bytes,
                      const struct rte_eth_dev_info *info, struct error *error);

/* Lets frames of `max_frame_bytes` without FCS pass. Returns 0 or a negative errno. */
int port_set_mtu(const struct port *port, uint32_t number, uint32_t max_frame_bytes,
                 const struct rte_eth_dev_info *info, struct error *error);

#endif
