/* SPDX-License-Identifier: Apache-2.0 */
/* What frames that are not ours are, by their EtherType: a DUT's own talk, mostly. */
#ifndef PLIMSOLL_FOREIGN_H
#define PLIMSOLL_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

enum foreign_kind {
    FOREIGN_ARP,
    FOREIGN_LLDP,
    FOREIGN_STP,            /* IEEE 802.1D, in IEEE 802.2 frames with SAP 0x42 */
    FOREIGN_SLOW_PROTOCOLS, /* LACP and others of IEEE 802.3 annex 57A */
    FOREIGN_FLOW_CONTROL,   /* pause and priority flow control, IEEE 802.3 annex 31 */
    FOREIGN_PTP,            /* IEEE 1588 over Ethernet */
    FOREIGN_IPV4,
    FOREIGN_IPV6,
    FOREIGN_RUNT, /* too short for an Ethernet header */
    FOREIGN_OTHER,
    FOREIGN_KINDS,
};

/* As the protocol names them. */
extern const char *const foreign_names[FOREIGN_KINDS];

/*
 * Whether a frame of `frame_bytes` was cut short: its IP packet says that it is longer. `head`
 * holds its first `length` bytes.
 */
bool cut_short(const uint8_t *head, uint32_t length, uint32_t frame_bytes);

/* Tells a frame's kind by its first `length` bytes, of which 18 and VLAN tags are enough. */
enum foreign_kind foreign_kind(const uint8_t *frame, uint32_t length);

#endif
