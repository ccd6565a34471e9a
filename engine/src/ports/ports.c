/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/ports.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "ports/interrupt_thread.h"
#include "ports/port_opening.h"
#include "ports/port_stamps.h"
#include "ports/port_timesync.h"
#include "ports/send_buffers.h"

/* Between looks at peers and links that are missing. */
#define PAUSE_MS 20

static double
now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Opens ports until all have a link, the time is over, or the user has enough. */
static int
open_all(struct port_opening *opening, bool (*give_up)(void *), void *context, struct error *error)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000 * 1000};
    const double deadline_s = now_s() + opening->request->link_wait_s;
    int status;

    while ((status = port_opening_go_on(opening, now_s(), error)) == -EAGAIN) {
        if (give_up(context))
            return set_error(error, -ECANCELED, "", "ended while waiting for links");
        if (now_s() >= deadline_s)
            return port_opening_timed_out(opening, error);
        nanosleep(&pause, NULL);
    }
    return status;
}

/* The host as requested, by the port's own MAC address unless it is to have another. */
static int
make_host(struct port *port, const struct host *requested, uint32_t number, struct error *error)
{
    struct rte_ether_addr mac = {0};
    char where[32];

    port->host = *requested;
    if (!requested->present || requested->has_mac)
        return 0;
    if (rte_eth_macaddr_get(port->dpdk_port, &mac) == 0 && rte_is_valid_assigned_ether_addr(&mac)) {
        memcpy(port->host.mac, mac.addr_bytes, MAC_BYTES);
        return 0;
    }
    snprintf(where, sizeof(where), "ports[%u].host.mac", number);
    return set_error(error, -EINVAL, where, "the port has no MAC address; give the host one");
}

int
ports_open(struct ports *ports, const struct open_request *request, bool (*give_up)(void *),
           void *context, struct error *error)
{
    struct port_opening opening = {.ports = ports, .request = request};
    int status;

    ports->count = request->port_count;
    for (uint32_t i = 0; i < ports->count; i++)
        ports->port[i].dpdk_port = RTE_MAX_ETHPORTS;
    status = open_all(&opening, give_up, context, error);
    send_buffers_widen();
    for (uint32_t i = 0; i < ports->count && status == 0; i++) {
        port_stamps_probe(&ports->port[i]);
        status = make_host(&ports->port[i], &request->ports[i].host, i, error);
        if (status == 0 && request->ports[i].stamps == STAMPS_HARDWARE)
            status = port_stamps_use(ports, i, error);
        if (status == 0 && request->ports[i].stamps == STAMPS_TIMESYNC)
            status = port_timesync_use(ports, i, error);
    }
    if (status == 0)
        ports_timesync_settle(ports);
    return status;
}

void
ports_compare_clocks(struct ports *ports)
{
    for (uint32_t i = 0; i < ports->count; i++) {
        /* A comparison that fails leaves the line as it was. */
        if (ports->port[i].hardware_clock || ports->port[i].timesync)
            port_stamps_compare(&ports->port[i]);
    }
}

void
ports_close(struct ports *ports)
{
    for (uint32_t i = 0; i < ports->count; i++) {
        if (!rte_eth_dev_is_valid_port(ports->port[i].dpdk_port))
            continue;
        interrupt_thread_settle();
        port_timesync_end(&ports->port[i]);
        /* One that belongs to a kernel interface would stay down. */
        if (ports->port[i].link_control == LINK_TAKEN_DOWN)
            rte_eth_dev_set_link_up(ports->port[i].dpdk_port);
        /* A kernel interface would stay promiscuous. */
        rte_eth_promiscuous_disable(ports->port[i].dpdk_port);
        rte_eth_dev_stop(ports->port[i].dpdk_port);
        rte_eth_dev_close(ports->port[i].dpdk_port);
    }
    if (ports->count > 0)
        interrupt_thread_settle();
    ports->count = 0;
}

bool
port_link_up(const struct port *port)
{
    struct rte_eth_link link = {0};

    return rte_eth_link_get_nowait(port->dpdk_port, &link) == 0 &&
           link.link_status == RTE_ETH_LINK_UP;
}

void
port_stats(const struct port *port, struct rte_eth_stats *stats)
{
    struct rte_eth_stats now;

    if (rte_eth_stats_get(port->dpdk_port, &now) != 0)
        return;
    now.imissed += xdp_sockets_ring_full(&port->xdp_sockets);
    *stats = now;
}

bool
port_link_lost(struct port *port)
{
    const bool up = port_link_up(port);

    if (up && port->link_control == LINK_COMING_UP)
        port->link_control = LINK_BY_ITSELF;
    return !up && port->link_control == LINK_BY_ITSELF;
}

const char *
port_driver(const struct port *port)
{
    struct rte_eth_dev_info info;

    return rte_eth_dev_info_get(port->dpdk_port, &info) == 0 ? info.driver_name : "unknown";
}

static int
set_link_error(const struct port *port, bool up, int status, struct error *error)
{
    const char *change = up ? "bring links up" : "take links down";

    if (status == -ENOTSUP)
        return set_error(error, status, "port",
                         "driver %s cannot %s: do it on the other side, in the DUT, or use a port "
                         "whose driver can, such as net_tap",
                         port_driver(port), change);
    return set_error(error, status, "port", "driver %s cannot %s: %s", port_driver(port), change,
                     strerror(-status));
}

int
ports_set_link(struct ports *ports, const struct link_request *request, struct error *error)
{
    struct port *port = &ports->port[request->port];
    const int status = request->up ? rte_eth_dev_set_link_up(port->dpdk_port)
                                   : rte_eth_dev_set_link_down(port->dpdk_port);

    if (status != 0)
        return set_link_error(port, request->up, status, error);
    port->link_control = request->up ? LINK_COMING_UP : LINK_TAKEN_DOWN;
    return 0;
}
