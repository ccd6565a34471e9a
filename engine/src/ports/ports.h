/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's ports: opened once, used by every trial of the process. */
#ifndef PLIMSOLL_PORTS_H
#define PLIMSOLL_PORTS_H

#include <rte_ethdev.h>

#include "config/error.h"
#include "config/host.h"
#include "config/link_request.h"
#include "config/open_request.h"
#include "dataplane/time/port_clock.h"
#include "ports/xdp_sockets.h"

/* What was last requested of a link: nothing, or what it has become since; down; or up again. */
enum link_control { LINK_BY_ITSELF, LINK_TAKEN_DOWN, LINK_COMING_UP };

struct port {
    uint16_t dpdk_port;
    uint16_t rx_queues;
    uint16_t tx_queues;
    bool rss;            /* the driver can spread flows over its receive queues */
    bool rx_stamps;      /* the port can stamp what it receives, by a clock that can be read */
    bool tx_stamps;      /* the port can stamp what it sends */
    bool stamps_all;     /* the port was set to stamp all that it receives */
    bool checks_sums;    /* the port checks IPv4, UDP and TCP checksums of what it receives */
    bool hardware_clock; /* receive stamps are taken by the port, see `clock` */
    bool timesync;       /* probes are stamped by the port, each way, see `clock` */
    enum link_control link_control;
    struct host host;               /* the tester's own on the port, its MAC address known */
    struct xdp_sockets xdp_sockets; /* by which its driver has its queues; none of others */
    /* A pool for each queue, so that workers do not meet in one. */
    struct rte_mempool *tx_pool[QUEUES_MAX];
    struct rte_mempool *rx_pool[QUEUES_MAX];
    struct port_clock clock; /* read by workers, only where one of the two is set */
};

struct ports {
    uint32_t count;
    struct port port[PORTS_MAX];
    /* Where a mbuf holds its stamp, and the flag in ol_flags that says it does; set where used. */
    int stamp_offset;
    uint64_t stamp_flag;
    struct neighbours neighbours; /* those resolved last */
};

/*
 * Configures and starts every port with the queues that the request gives it, then waits
 * up to request->link_wait_s for peers that do not listen yet and for all links.
 * `give_up` is polled in the meantime; true ends the wait with -ECANCELED. Returns 0 or a
 * negative errno with the port named in the error; what was opened stays for
 * ports_close() to end.
 */
int ports_open(struct ports *ports, const struct open_request *request, bool (*give_up)(void *),
               void *context, struct error *error);

/*
 * Compares the clocks of ports that stamp with the TSC anew, as port_clock.h asks for:
 * to be called by the main thread about once a second while stamps are used.
 */
void ports_compare_clocks(struct ports *ports);

/* Links that were taken down by request come up again. */
void ports_close(struct ports *ports);

/*
 * Takes the link of a port down or brings it up, also while workers poll it; a card's is up
 * seconds later. Returns 0, or a negative errno with the driver in the error: -ENOTSUP where
 * that has no such function.
 */
int ports_set_link(struct ports *ports, const struct link_request *request, struct error *error);

/* Its driver, by DPDK's name. A port that says nothing of itself does not open. */
const char *port_driver(const struct port *port);

bool port_link_up(const struct port *port);

/*
 * What its driver counts, and as missed also what an AF_XDP socket's ring had no room for. Left as
 * it was where the driver does not answer.
 */
void port_stats(const struct port *port, struct rte_eth_stats *stats);

/* Whether the link is down by itself, and not by request or still on its way up after one. */
bool port_link_lost(struct port *port);

#endif
