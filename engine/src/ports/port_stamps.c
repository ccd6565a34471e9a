/* SPDX-License-Identifier: Apache-2.0 */
/* rte_eth_read_clock() is marked so, unchanged, from 19.11 to 25.11. */
#define ALLOW_EXPERIMENTAL_API

#include "ports/port_stamps.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf_dyn.h>
#include <rte_time.h>
#include <time.h>

/* A read that an interrupt stretched is outdone by one that none did. */
#define BRACKETS 16
/* Between the first two comparisons: their uncertainty of a few 100 ns then bends the line by 1e-6.
 */
#define BASE_MS 100

void
port_stamps_probe(struct port *port)
{
    struct rte_eth_dev_info info;
    uint64_t clock;

    /* Stamps by a clock that cannot be read, such as a pcap file's, are of no use here. */
    port->rx_stamps = rte_eth_dev_info_get(port->dpdk_port, &info) == 0 &&
                      (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0 &&
                      rte_eth_read_clock(port->dpdk_port, &clock) == 0;
    /* Drivers do not say whether they can: those that cannot refuse. */
    port->tx_stamps = rte_eth_timesync_enable(port->dpdk_port) == 0 &&
                      rte_eth_timesync_disable(port->dpdk_port) == 0;
}

/* The clock that the port's stamps are of. */
static int
read_clock(const struct port *port, uint64_t *clock)
{
    struct timespec time = {0};
    int status;

    if (!port->timesync)
        return rte_eth_read_clock(port->dpdk_port, clock);
    status = rte_eth_timesync_read_time(port->dpdk_port, &time);
    *clock = rte_timespec_to_ns(&time);
    return status;
}

int
port_stamps_compare(struct port *port)
{
    struct clock_bracket brackets[BRACKETS];

    for (uint32_t i = 0; i < BRACKETS; i++) {
        brackets[i].tsc_before = rte_rdtsc_precise();
        const int status = read_clock(port, &brackets[i].stamp);

        if (status != 0)
            return status;
        brackets[i].tsc_after = rte_rdtsc_precise();
    }
    return port_clock_compare(&port->clock, &brackets[clock_bracket_tightest(brackets, BRACKETS)]);
}

int
port_stamps_use(struct ports *ports, uint32_t number, struct error *error)
{
    struct port *port = &ports->port[number];
    char where[32];
    int status = 0;

    snprintf(where, sizeof(where), "ports[%u].stamps", number);
    if (!port->rx_stamps)
        return set_error(error, -ENOTSUP, where, "the port's clock cannot be read");
    if (rte_mbuf_dyn_rx_timestamp_register(&ports->stamp_offset, &ports->stamp_flag) != 0)
        return set_error(error, -rte_errno, where, "no room for stamps in the mbufs");
    for (uint32_t i = 0; i < 2 && status == 0; i++) {
        status = port_stamps_compare(port);
        nanosleep(&(struct timespec){.tv_nsec = BASE_MS * 1000 * 1000}, NULL);
    }
    if (status != 0)
        return set_error(error, status, where, "the port's clock does not go on");
    port->hardware_clock = true;
    return 0;
}
