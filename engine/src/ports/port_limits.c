/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/port_limits.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ports/devargs.h"

/* What drivers take where the devargs do not say: memif's bsize, AF_PACKET's framesz. */
#define BUFFER_DEFAULT_BYTES 2048
/* What the kernel puts before a frame in AF_PACKET's buffers: TPACKET_V2, 14 bytes of Ethernet. */
#define PACKET_HEADER_BYTES 66

/*
 * AF_XDP's buffers are mbufs of at most a page. The mempool takes 64 bytes and up to 64 more
 * to spread them over memory channels, the mbuf 128, its headroom 128, port_setup.c spares 320.
 */
#define XDP_FRAME_MAX_BYTES 3392u

static int
set_error_at(struct error *error, uint32_t number, int status, const char *text)
{
    char where[32];

    snprintf(where, sizeof(where), "ports[%u]", number);
    return set_error(error, status, where, "%s", text);
}

int
port_set_error(struct error *error, uint32_t number, int status, const char *what)
{
    char text[192];

    /* Drivers return little more than that they failed, and print why on standard error. */
    snprintf(text, sizeof(text), "%s: %s", what, strerror(-status));
    return set_error_at(error, number, status, text);
}

static int
check_queues(const char *direction, uint16_t requested, uint16_t most, uint32_t number,
             const struct rte_eth_dev_info *info, struct error *error)
{
    char text[192];

    if (requested <= most)
        return 0;
    snprintf(text, sizeof(text), "%u %s queues are requested; driver %s has at most %u here",
             requested, direction, info->driver_name, most);
    return set_error_at(error, number, -ERANGE, text);
}

static int
check_stamps(const struct port_request *request, uint32_t number,
             const struct rte_eth_dev_info *info, struct error *error)
{
    char where[32];

    if (request->stamps != STAMPS_HARDWARE ||
        (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0)
        return 0;
    snprintf(where, sizeof(where), "ports[%u].stamps", number);
    return set_error(error, -ENOTSUP, where, "driver %s has no hardware stamps", info->driver_name);
}

static bool
is_driver(const struct rte_eth_dev_info *info, const char *name)
{
    return strcmp(info->driver_name, name) == 0;
}

static uint32_t
number_in(const char *devargs, const char *key)
{
    char value[16];

    return devargs_value(devargs, key, value, sizeof(value)) == 0
               ? (uint32_t)strtoul(value, NULL, 10)
               : BUFFER_DEFAULT_BYTES;
}

/*
 * Frames must fit one of the device's own buffers: memif returns longer ones in wrong
 * pieces up to DPDK 25.11 (stale flags in its descriptors), AF_PACKET drops them.
 */
static int
check_buffers(const struct port_request *request, uint32_t number, uint32_t max_frame_bytes,
              const struct rte_eth_dev_info *info, struct error *error)
{
    char remedy[64], text[192];
    uint32_t room = UINT32_MAX;

    if (is_driver(info, "net_memif")) {
        room = number_in(request->devargs, "bsize");
        snprintf(remedy, sizeof(remedy), "bsize=%u", RTE_ALIGN_CEIL(max_frame_bytes, 64));
    } else if (is_driver(info, "net_af_packet")) {
        room = number_in(request->devargs, "framesz") - PACKET_HEADER_BYTES;
        /* The driver wants blocks of whole frames, the kernel of whole pages: 32 times 128 bytes.
         */
        const uint32_t frame = RTE_ALIGN_CEIL(max_frame_bytes + PACKET_HEADER_BYTES, 128);

        snprintf(remedy, sizeof(remedy), "blocksz=%u,framesz=%u", 32 * frame, frame);
    }
    if (max_frame_bytes <= room)
        return 0;
    snprintf(text, sizeof(text),
             "frames of %u bytes do not fit the device's buffers of %u: add %s to its devargs",
             max_frame_bytes, room, remedy);
    return set_error_at(error, number, -ERANGE, text);
}

static int
kernel_mtu(unsigned index, char *name, int *mtu)
{
    struct ifreq request = {0};
    int status, fd;

    if (!if_indextoname(index, name))
        return -errno;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    status = ioctl(fd, SIOCGIFMTU, &request) == 0 ? 0 : -errno;
    *mtu = request.ifr_mtu;
    close(fd);
    return status;
}

static int
check_kernel_mtu(uint32_t number, uint32_t max_frame_bytes, const struct rte_eth_dev_info *info,
                 struct error *error)
{
    char name[IF_NAMESIZE], text[192];
    int mtu = 0, status = kernel_mtu(info->if_index, name, &mtu);

    if (status != 0)
        return port_set_error(error, number, status, "its kernel interface tells no MTU");
    /* The kernel lets a VLAN tag pass on top of the MTU. */
    if (max_frame_bytes <= (uint32_t)mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)
        return 0;
    snprintf(text, sizeof(text),
             "the MTU of %s, %d, is too small for frames of %u bytes: ip link set %s mtu %u", name,
             mtu, max_frame_bytes, name, max_frame_bytes - RTE_ETHER_HDR_LEN);
    return set_error_at(error, number, -ERANGE, text);
}

/* Without FCS. */
static uint32_t
longest_frame(const struct rte_eth_dev_info *info)
{
    const uint32_t stated = RTE_MIN((uint32_t)info->max_mtu + RTE_ETHER_HDR_LEN,
                                    info->max_rx_pktlen - RTE_ETHER_CRC_LEN);

    return is_driver(info, "net_af_xdp") ? RTE_MIN(stated, XDP_FRAME_MAX_BYTES) : stated;
}

static int
set_length_error(uint32_t number, uint32_t max_frame_bytes, const struct rte_eth_dev_info *info,
                 struct error *error)
{
    char text[192];

    snprintf(text, sizeof(text), "driver %s takes no frames of %u bytes: at most %u without FCS",
             info->driver_name, max_frame_bytes, longest_frame(info));
    return set_error_at(error, number, -ERANGE, text);
}

/* The drivers over a kernel interface would set that one's MTU. */
static bool
has_kernel_mtu(const struct rte_eth_dev_info *info)
{
    return is_driver(info, "net_af_packet") || is_driver(info, "net_af_xdp");
}

static int
check_length(uint32_t number, uint32_t max_frame_bytes, const struct rte_eth_dev_info *info,
             struct error *error)
{
    if (!has_kernel_mtu(info))
        return 0;
    /* AF_PACKET states 1518 bytes, whatever its buffers hold. */
    if (is_driver(info, "net_af_xdp") && max_frame_bytes > longest_frame(info))
        return set_length_error(number, max_frame_bytes, info, error);
    return check_kernel_mtu(number, max_frame_bytes, info, error);
}

int
port_check_limits(const struct port_request *request, uint32_t number, uint32_t max_frame_bytes,
                  const struct rte_eth_dev_info *info, struct error *error)
{
    int status =
        check_queues("receive", request->rx_queues, info->max_rx_queues, number, info, error);

    if (status == 0)
        status =
            check_queues("transmit", request->tx_queues, info->max_tx_queues, number, info, error);
    if (status == 0)
        status = check_stamps(request, number, info, error);
    if (status == 0)
        status = check_buffers(request, number, max_frame_bytes, info, error);
    return status == 0 ? check_length(number, max_frame_bytes, info, error) : status;
}

int
port_set_mtu(const struct port *port, uint32_t number, uint32_t max_frame_bytes,
             const struct rte_eth_dev_info *info, struct error *error)
{
    int status;

    /* Every port takes that from the start, and ports without an MTU what fits a buffer. */
    if (max_frame_bytes <= RTE_ETHER_HDR_LEN + RTE_ETHER_MTU || has_kernel_mtu(info))
        return 0;
    status = rte_eth_dev_set_mtu(port->dpdk_port, (uint16_t)(max_frame_bytes - RTE_ETHER_HDR_LEN));
    if (status == -EINVAL)
        return set_length_error(number, max_frame_bytes, info, error);
    if (status != 0 && status != -ENOTSUP)
        return port_set_error(error, number, status, "cannot set its MTU");
    return 0;
}
