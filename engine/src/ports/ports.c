/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/ports.h"

#include <errno.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_pci.h>
#include <string.h>
#include <time.h>

#define MBUF_CACHE 256
/* Besides the descriptors: what bursts, caches and a peer's ring may hold at one time. */
#define MBUFS_BESIDE_DESCRIPTORS 8192

static int
complain_of_port(struct complaint *complaint, uint32_t port, int status, const char *what)
{
    char where[32];

    snprintf(where, sizeof(where), "ports[%u]", port);
    /* Drivers return little more than that they failed, and print why on standard error. */
    return complain(complaint, status, where, "%s: %s", what, strerror(-status));
}

/*
 * The device's name is its devargs up to the first comma. DPDK's start has opened what
 * lies on a real bus; virtual devices are made here, so that one that fails is known.
 */
static int
find_port(const struct port_request *request, uint16_t *dpdk_port)
{
    char name[RTE_ETH_NAME_MAX_LEN];
    const size_t length = strcspn(request->devargs, ",");
    struct rte_pci_addr pci;
    int status;

    if (length >= sizeof(name))
        return -ENAMETOOLONG;
    memcpy(name, request->devargs, length);
    name[length] = '\0';
    /* DPDK names a PCI device with its domain, which people leave out. */
    if (rte_pci_addr_parse(name, &pci) == 0)
        rte_pci_device_name(&pci, name, sizeof(name));
    status = rte_eth_dev_get_port_by_name(name, dpdk_port);
    if (status != -ENODEV)
        return status;
    status = rte_dev_probe(request->devargs);
    return status == 0 ? rte_eth_dev_get_port_by_name(name, dpdk_port) : status;
}

static struct rte_mempool *
make_pool(const char *kind, uint32_t number, const struct open_request *request, int socket)
{
    const uint32_t room =
        RTE_MAX(RTE_MBUF_DEFAULT_BUF_SIZE, RTE_PKTMBUF_HEADROOM + request->max_frame_bytes);
    const uint32_t mbufs = 2u * request->ports[number].descriptors + MBUFS_BESIDE_DESCRIPTORS;
    char name[RTE_MEMPOOL_NAMESIZE];

    snprintf(name, sizeof(name), "%s%u", kind, number);
    return rte_pktmbuf_pool_create(name, mbufs - 1, MBUF_CACHE, 0, (uint16_t)room, socket);
}

static int
configure(struct port *port, const struct port_request *request, uint32_t max_frame_bytes)
{
    struct rte_eth_conf conf = {0};
    uint16_t rx_descriptors = request->descriptors, tx_descriptors = request->descriptors;
    const int socket = rte_eth_dev_socket_id(port->dpdk_port);
    int status = rte_eth_dev_configure(port->dpdk_port, 1, 1, &conf);

    if (status != 0)
        return status;
    status = rte_eth_dev_adjust_nb_rx_tx_desc(port->dpdk_port, &rx_descriptors, &tx_descriptors);
    if (status != 0)
        return status;
    /* Software ports have no MTU to set and take any frame that fits a buffer. */
    status =
        rte_eth_dev_set_mtu(port->dpdk_port, (uint16_t)RTE_MAX(max_frame_bytes - RTE_ETHER_HDR_LEN,
                                                               (uint32_t)RTE_ETHER_MTU));
    if (status != 0 && status != -ENOTSUP)
        return status;
    status = rte_eth_rx_queue_setup(port->dpdk_port, 0, rx_descriptors, (unsigned)socket, NULL,
                                    port->rx_pool);
    if (status != 0)
        return status;
    return rte_eth_tx_queue_setup(port->dpdk_port, 0, tx_descriptors, (unsigned)socket, NULL);
}

static int
start(struct port *port)
{
    int status = rte_eth_dev_start(port->dpdk_port);

    if (status != 0)
        return status;
    /* A DUT in mac mode sends to addresses that are not ours. */
    status = rte_eth_promiscuous_enable(port->dpdk_port);
    return status == -ENOTSUP ? 0 : status;
}

static int
open_port(struct port *port, uint32_t number, const struct open_request *request,
          struct complaint *complaint)
{
    int status = find_port(&request->ports[number], &port->dpdk_port);

    if (status != 0)
        return complain_of_port(complaint, number, status, "DPDK cannot open this device");
    const int socket = rte_eth_dev_socket_id(port->dpdk_port);
    port->tx_pool = make_pool("tx", number, request, socket);
    port->rx_pool = make_pool("rx", number, request, socket);
    if (!port->tx_pool || !port->rx_pool)
        return complain_of_port(complaint, number, -rte_errno, "no memory for buffers");
    status = configure(port, &request->ports[number], request->max_frame_bytes);
    if (status != 0)
        return complain_of_port(complaint, number, status, "cannot be configured");
    status = start(port);
    if (status != 0)
        return complain_of_port(complaint, number, status, "cannot be started");
    return 0;
}

bool
port_link_up(const struct port *port)
{
    struct rte_eth_link link = {0};

    return rte_eth_link_get_nowait(port->dpdk_port, &link) == 0 &&
           link.link_status == RTE_ETH_LINK_UP;
}

static int
wait_for_links(const struct ports *ports, double wait_s, struct complaint *complaint)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    uint32_t up = 0;

    for (double waited_s = 0; waited_s <= wait_s; waited_s += 0.01) {
        while (up < ports->count && port_link_up(&ports->port[up]))
            up++;
        if (up == ports->count)
            return 0;
        nanosleep(&pause, NULL);
    }
    return complain_of_port(complaint, up, -ETIMEDOUT, "the link did not come up");
}

int
ports_open(struct ports *ports, const struct open_request *request, struct complaint *complaint)
{
    for (uint32_t i = 0; i < request->port_count; i++) {
        const int status = open_port(&ports->port[i], i, request, complaint);

        if (status != 0)
            return status;
        ports->count++;
    }
    return wait_for_links(ports, request->link_wait_s, complaint);
}

void
ports_close(struct ports *ports)
{
    for (uint32_t i = 0; i < ports->count; i++) {
        rte_eth_dev_stop(ports->port[i].dpdk_port);
        rte_eth_dev_close(ports->port[i].dpdk_port);
    }
    ports->count = 0;
}
