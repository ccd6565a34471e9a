/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/port_timesync.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_mbuf_dyn.h>
#include <string.h>
#include <time.h>

#include "ports/port_stamps.h"

/* Between a trial's first two comparisons of clocks: a stamp of its first second is then off by
 * at most five half-brackets, some microseconds. */
#define BASE_MS 500
/* For the stamp of the frame that shows whether there are any; cards take microseconds. */
#define STAMP_WAIT_MS 1000
/* Until that frame has come back through a DUT that forwards it. */
#define SETTLING_MS 200
#define DROPPED_AT_ONCE 32
#define FRAME_BYTES 60
/* IEEE 1588-2008, annex F: not forwarded by bridges. Then EtherType, a Sync message of version 2
 * in domain 0, its length. */
static const uint8_t ptp_destination[] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
static const uint8_t ptp_sync[] = {0x88, 0xf7, 0x00, 0x02, 0x00, 44, 0x00, 0x00};

static void
sleep_ms(uint32_t ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* Complains of the driver of ports[number]. */
static int
set_clock_error(const struct ports *ports, uint32_t number, int status, const char *what,
                struct error *error)
{
    char where[32];

    snprintf(where, sizeof(where), "ports[%u].stamps", number);
    return set_error(error, status, where, "driver %s %s", port_driver(&ports->port[number]), what);
}

/* Until they are read the port takes no others. */
static void
forget_stamps(const struct port *port)
{
    struct timespec stamp;

    rte_eth_timesync_read_tx_timestamp(port->dpdk_port, &stamp);
    rte_eth_timesync_read_rx_timestamp(port->dpdk_port, &stamp, 0);
}

/* Sends a Sync message of the port's own, to be stamped; false where there is no room for it. */
static bool
send_sync(const struct port *port)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(port->tx_pool[0]);
    struct rte_ether_addr own = {0};
    uint8_t *frame;

    if (!mbuf)
        return false;
    frame = (uint8_t *)rte_pktmbuf_append(mbuf, FRAME_BYTES);
    memset(frame, 0, FRAME_BYTES);
    rte_eth_macaddr_get(port->dpdk_port, &own);
    memcpy(frame, ptp_destination, sizeof(ptp_destination));
    memcpy(frame + RTE_ETHER_ADDR_LEN, own.addr_bytes, RTE_ETHER_ADDR_LEN);
    memcpy(frame + 2 * RTE_ETHER_ADDR_LEN, ptp_sync, sizeof(ptp_sync));
    mbuf->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
    if (rte_eth_tx_burst(port->dpdk_port, 0, &mbuf, 1) == 1)
        return true;
    rte_pktmbuf_free(mbuf);
    return false;
}

static bool
stamps_what_it_sends(const struct port *port)
{
    struct timespec stamp;

    forget_stamps(port);
    if (!send_sync(port))
        return false;
    for (uint32_t ms = 0; ms < STAMP_WAIT_MS; ms++) {
        if (rte_eth_timesync_read_tx_timestamp(port->dpdk_port, &stamp) == 0)
            return true;
        sleep_ms(1);
    }
    return false;
}

int
port_timesync_use(struct ports *ports, uint32_t number, struct error *error)
{
    struct port *port = &ports->port[number];
    struct timespec time;

    if (rte_eth_timesync_enable(port->dpdk_port) != 0)
        return set_clock_error(ports, number, -ENOTSUP, "has no timesync for this port", error);
    port->timesync = true;
    if (rte_eth_timesync_read_time(port->dpdk_port, &time) != 0)
        return set_clock_error(ports, number, -ENOTSUP, "has no clock that can be read", error);
    if (!stamps_what_it_sends(port))
        return set_clock_error(
            ports, number, -ENOTSUP,
            "gave no stamp of a PTP frame that it sent; igb, ixgbe and i40e give "
            "some only in a DPDK built with RTE_LIBRTE_IEEE1588 defined, which "
            "packages of distributions are not",
            error);
    /* Where the port stamps all that it receives, stamps come with the frames. */
    if (port->stamps_all &&
        rte_mbuf_dyn_rx_timestamp_register(&ports->stamp_offset, &ports->stamp_flag) != 0)
        return set_clock_error(ports, number, -rte_errno, "finds no room for stamps in the mbufs",
                               error);
    return 0;
}

/* Drops what is in the port's queues. */
static void
drop_received(const struct port *port)
{
    struct rte_mbuf *mbufs[DROPPED_AT_ONCE];
    uint16_t count;

    for (uint16_t queue = 0; queue < port->rx_queues; queue++) {
        while ((count = rte_eth_rx_burst(port->dpdk_port, queue, mbufs, DROPPED_AT_ONCE)) > 0)
            rte_pktmbuf_free_bulk(mbufs, count);
    }
}

void
ports_timesync_settle(const struct ports *ports)
{
    bool used = false;

    for (uint32_t i = 0; i < ports->count; i++)
        used |= ports->port[i].timesync;
    for (uint32_t ms = 0; used && ms < SETTLING_MS; ms++) {
        for (uint32_t i = 0; i < ports->count; i++)
            drop_received(&ports->port[i]);
        sleep_ms(1);
    }
}

/* Ports may share a clock, so all are set going before any is compared. */
static int
set_going(const struct ports *ports, uint32_t number, struct error *error)
{
    if (rte_eth_timesync_disable(ports->port[number].dpdk_port) != 0 ||
        rte_eth_timesync_enable(ports->port[number].dpdk_port) != 0)
        return set_clock_error(ports, number, -EIO, "does not set its clock going anew", error);
    forget_stamps(&ports->port[number]);
    return 0;
}

static int
compare_all(struct ports *ports, struct error *error)
{
    for (uint32_t i = 0; i < ports->count; i++) {
        if (ports->port[i].timesync && port_stamps_compare(&ports->port[i]) != 0)
            return set_clock_error(ports, i, -EIO, "has a clock that does not go on", error);
    }
    return 0;
}

int
ports_timesync_begin(struct ports *ports, struct error *error)
{
    uint32_t used = 0;
    int status = 0;

    for (uint32_t i = 0; i < ports->count && status == 0; i++) {
        if (!ports->port[i].timesync)
            continue;
        used++;
        status = set_going(ports, i, error);
        ports->port[i].clock = (struct port_clock){0};
    }
    if (used == 0 || status != 0)
        return status;
    status = compare_all(ports, error);
    if (status != 0)
        return status;
    sleep_ms(BASE_MS);
    return compare_all(ports, error);
}

void
port_timesync_end(const struct port *port)
{
    if (port->timesync)
        rte_eth_timesync_disable(port->dpdk_port);
}
