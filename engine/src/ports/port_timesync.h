/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps that a port takes of frames that it knows as PTP's, as they leave and as they come, by
 * DPDK's timesync; its clock is that of rte_eth_timesync_read_time(), in ns.
 */
#ifndef PLIMSOLL_PORT_TIMESYNC_H
#define PLIMSOLL_PORT_TIMESYNC_H

#include "ports/ports.h"

/*
 * Makes ready to use the stamps of ports[number], which is started and has a link. It sends a
 * PTP frame that no bridge forwards, for only that shows whether the driver was built to stamp.
 * Returns 0 or a negative errno with driver and remedy in the error.
 */
int port_timesync_use(struct ports *ports, uint32_t number, struct error *error);

/*
 * After all ports are ready: drops what port_timesync_use() sent and a DUT forwarded, which is
 * no part of the first trial. Without such a port it does nothing.
 */
void ports_timesync_settle(const struct ports *ports);

/*
 * Before a trial: sets the clocks of all such ports going anew, forgets stamps of earlier frames,
 * and compares the clocks with the TSC twice, half a second apart. Without such a port it does
 * nothing. Returns 0 or a negative errno with the port in the error.
 */
int ports_timesync_begin(struct ports *ports, struct error *error);

/* Ends what port_timesync_use() began, if it did. */
void port_timesync_end(const struct port *port);

#endif
