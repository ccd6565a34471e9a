/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/port_setup.h"

#include <errno.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_pci.h>
#include <string.h>

#include "ports/devargs.h"
#include "ports/port_limits.h"
#include "ports/xdp_pool.h"

#define MBUF_CACHE 256
/* Apart from the descriptors: what bursts, caches and a peer's ring may hold at one time. */
#define MBUFS_BESIDE_DESCRIPTORS 8192
/* Beyond the longest frame: AF_XDP's headroom of 256, or what AF_PACKET's frames are rounded up. */
#define SPARE_BYTES 320
/* Checksums of received frames that a card checks itself. */
#define RECEIVED_SUMS                                                                              \
    (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM)

/*
 * Not by rte_dev_probe(), which from DPDK 25.11 on takes no more than 128 characters of
 * arguments: a socket's path alone may have 107.
 */
static int
make_virtual(const char *name, const char *devargs)
{
    const char *comma = strchr(devargs, ',');
    const int status = rte_vdev_init(name, comma ? comma + 1 : "");

    /* Its way to say that no driver knows the name. */
    return status > 0 ? -ENODEV : status;
}

int
port_find(const struct port_request *request, uint16_t *dpdk_port)
{
    char name[RTE_ETH_NAME_MAX_LEN];
    struct rte_pci_addr pci;
    int status = devargs_name(request->devargs, name, sizeof(name));

    if (status != 0)
        return status;
    /* DPDK names a PCI device with its domain, which people leave out. */
    if (rte_pci_addr_parse(name, &pci) == 0)
        rte_pci_device_name(&pci, name, sizeof(name));
    status = rte_eth_dev_get_port_by_name(name, dpdk_port);
    if (status != -ENODEV)
        return status;
    status = devargs_is_pci(request->devargs) ? rte_dev_probe(request->devargs)
                                              : make_virtual(name, request->devargs);
    return status == 0 ? rte_eth_dev_get_port_by_name(name, dpdk_port) : status;
}

static struct rte_mempool *
make_pool(const char *direction, uint32_t number, uint16_t queue,
          const struct open_request *request, bool by_xdp, int socket)
{
    const uint32_t room = RTE_MAX(RTE_MBUF_DEFAULT_BUF_SIZE,
                                  RTE_PKTMBUF_HEADROOM + request->max_frame_bytes + SPARE_BYTES);
    const uint32_t mbufs = 2u * request->ports[number].descriptors + MBUFS_BESIDE_DESCRIPTORS;
    char name[RTE_MEMPOOL_NAMESIZE];

    snprintf(name, sizeof(name), "%s%u.%u", direction, number, queue);
    if (by_xdp)
        return xdp_pool_create(name, mbufs - 1, MBUF_CACHE, (uint16_t)room, socket);
    return rte_pktmbuf_pool_create(name, mbufs - 1, MBUF_CACHE, 0, (uint16_t)room, socket);
}

static int
make_pools(struct port *port, uint32_t number, const struct open_request *request,
           const struct rte_eth_dev_info *info)
{
    const bool by_xdp = strcmp(info->driver_name, "net_af_xdp") == 0;
    const int socket = rte_eth_dev_socket_id(port->dpdk_port);

    for (uint16_t queue = 0; queue < port->rx_queues; queue++) {
        port->rx_pool[queue] = make_pool("rx", number, queue, request, by_xdp, socket);
        if (!port->rx_pool[queue])
            return -rte_errno;
    }
    for (uint16_t queue = 0; queue < port->tx_queues; queue++) {
        port->tx_pool[queue] = make_pool("tx", number, queue, request, false, socket);
        if (!port->tx_pool[queue])
            return -rte_errno;
    }
    return 0;
}

static int
configure_device(struct port *port, const struct port_request *request,
                 const struct rte_eth_dev_info *info)
{
    struct rte_eth_conf conf = {0};

    /* Every pool serves one queue, and no mbuf is chained or shared when it is sent. */
    conf.txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
    /* Drivers have send functions that look at no flag, so none of the stamps: not with this. */
    if (request->stamps == STAMPS_TIMESYNC)
        conf.txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
    if (request->stamps != STAMPS_TSC)
        conf.rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP;
    port->stamps_all = conf.rxmode.offloads != 0;
    /*
     * Only of cards: a virtual port that promises it may hand up frames whose checksum no one
     * has written yet (VIRTIO_NET_F_GUEST_CSUM), and checks nothing faster than we do.
     */
    port->checks_sums = devargs_is_pci(request->devargs) &&
                        (info->rx_offload_capa & RECEIVED_SUMS) == RECEIVED_SUMS;
    if (port->checks_sums)
        conf.rxmode.offloads |= RECEIVED_SUMS;
    if (port->rx_queues > 1 && port->rss) {
        conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        conf.rx_adv_conf.rss_conf.rss_hf =
            info->flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
    }
    return rte_eth_dev_configure(port->dpdk_port, port->rx_queues, port->tx_queues, &conf);
}

static int
set_up_queues(const struct port *port, const struct port_request *request)
{
    const unsigned socket = (unsigned)rte_eth_dev_socket_id(port->dpdk_port);
    uint16_t rx_descriptors = request->descriptors, tx_descriptors = request->descriptors;
    int status =
        rte_eth_dev_adjust_nb_rx_tx_desc(port->dpdk_port, &rx_descriptors, &tx_descriptors);

    for (uint16_t queue = 0; status == 0 && queue < port->rx_queues; queue++)
        status = rte_eth_rx_queue_setup(port->dpdk_port, queue, rx_descriptors, socket, NULL,
                                        port->rx_pool[queue]);
    for (uint16_t queue = 0; status == 0 && queue < port->tx_queues; queue++)
        status = rte_eth_tx_queue_setup(port->dpdk_port, queue, tx_descriptors, socket, NULL);
    return status;
}

int
port_configure(struct port *port, uint32_t number, const struct open_request *request,
               struct error *error)
{
    const struct port_request *requested = &request->ports[number];
    struct rte_eth_dev_info info;
    struct xdp_sockets earlier;
    int status = rte_eth_dev_info_get(port->dpdk_port, &info);

    if (status != 0)
        return port_set_error(error, number, status, "says nothing of itself");
    port->rx_queues = requested->rx_queues;
    port->tx_queues = requested->tx_queues;
    port->rss = info.flow_type_rss_offloads != 0;
    status = port_check_limits(requested, number, request->max_frame_bytes, &info, error);
    if (status != 0)
        return status;
    status = make_pools(port, number, request, &info);
    if (status != 0)
        return port_set_error(error, number, status, "no memory for buffers");
    status = configure_device(port, requested, &info);
    if (status != 0)
        return port_set_error(error, number, status, "cannot be configured");
    status = port_set_mtu(port, number, request->max_frame_bytes, &info, error);
    if (status != 0)
        return status;
    xdp_sockets_list(&earlier);
    status = set_up_queues(port, requested);
    xdp_sockets_since(&port->xdp_sockets, &earlier);
    return status == 0 ? 0 : port_set_error(error, number, status, "has no such queues");
}

int
port_start(struct port *port)
{
    int status = rte_eth_dev_start(port->dpdk_port);

    if (status != 0)
        return status;
    /* A DUT in mac mode sends to addresses that are not ours. */
    status = rte_eth_promiscuous_enable(port->dpdk_port);
    return status == -ENOTSUP ? 0 : status;
}
