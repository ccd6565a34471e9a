/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps that a port takes itself: whether it can, and its clock compared with the TSC. */
#ifndef PLIMSOLL_PORT_STAMPS_H
#define PLIMSOLL_PORT_STAMPS_H

#include "ports/ports.h"

/* Finds out which stamps the started port can take. */
void port_stamps_probe(struct port *port);

/*
 * Makes ready to use the receive stamps of ports[number], which must be able to take
 * them; it takes about 0.1 s. Returns 0 or a negative errno with the error.
 */
int port_stamps_use(struct ports *ports, uint32_t number, struct error *error);

/* Compares the port's clock with the TSC. Returns 0 or a negative errno. */
int port_stamps_compare(struct port *port);

#endif
