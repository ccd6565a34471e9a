/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a frame is as its own checksums say: the IPv4 header's (RFC 791), and that of
 * UDP, TCP, ICMP or ICMPv6 (RFC 768, 9293, 792, 4443), which covers the addresses, the
 * ports and all that follows them up to the end of the packet.
 *
 * A DUT that rewrites what it may (addresses, ports, TTL) also corrects the checksums, so it is
 * never taken for one that damages. What lies before the IP header and behind the packet no
 * checksum covers, and the FCS is the ports' to check. Behind Ethernet, VLAN tags and MPLS
 * labels are passed over; of a tunnel the outer packet is checked.
 */
#ifndef PLIMSOLL_FRAME_CHECK_H
#define PLIMSOLL_FRAME_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* How much of a packet its checksums cover, each more than the one before. */
enum frame_cover { COVER_NONE, COVER_HEADER, COVER_PACKET };

struct frame_check {
    enum frame_cover cover;
    bool damaged; /* something that is covered is not as it was */
};

/* Of a frame of `length` bytes without FCS, at any address. */
struct frame_check frame_check(const uint8_t *frame, uint32_t length);

#endif
