/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/frames/foreign.h"

const char *const foreign_names[FOREIGN_KINDS] = {
    [FOREIGN_ARP] = "arp",
    [FOREIGN_LLDP] = "lldp",
    [FOREIGN_STP] = "stp",
    [FOREIGN_SLOW_PROTOCOLS] = "slow_protocols",
    [FOREIGN_FLOW_CONTROL] = "flow_control",
    [FOREIGN_PTP] = "ptp",
    [FOREIGN_IPV4] = "ipv4",
    [FOREIGN_IPV6] = "ipv6",
    [FOREIGN_RUNT] = "runt",
    [FOREIGN_OTHER] = "other",
};

static uint16_t
read_word(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static bool
is_vlan_tag(uint16_t type)
{
    return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

/* IEEE 802.3: up to 1500 the field is a length, and an IEEE 802.2 header follows. */
static enum foreign_kind
kind_by_service(const uint8_t *service, uint32_t length)
{
    const uint8_t spanning_tree = 0x42;

    return length >= 2 && service[0] == spanning_tree && service[1] == spanning_tree
               ? FOREIGN_STP
               : FOREIGN_OTHER;
}

/* Where the EtherType is, behind VLAN tags; perhaps beyond the frame's end. */
static uint32_t
find_type(const uint8_t *frame, uint32_t length)
{
    uint32_t at = 12;

    while (at + 6 <= length && is_vlan_tag(read_word(frame + at)))
        at += 4;
    return at;
}

bool
cut_short(const uint8_t *head, uint32_t length, uint32_t frame_bytes)
{
    const uint32_t type_at = find_type(head, length), at = type_at + 2;

    if (at + 6 > length)
        return false;
    switch (read_word(head + type_at)) {
    case 0x0800:
        return at + read_word(head + at + 2) > frame_bytes;
    case 0x86dd:
        /* The fixed header, whose length field counts what follows it; 0 in a jumbogram. */
        return at + 40 + read_word(head + at + 4) > frame_bytes;
    default:
        return false;
    }
}

enum foreign_kind
foreign_kind(const uint8_t *frame, uint32_t length)
{
    const uint32_t at = find_type(frame, length);

    if (at + 2 > length)
        return FOREIGN_RUNT;
    const uint16_t type = read_word(frame + at);
    if (type <= 1500)
        return kind_by_service(frame + at + 2, length - at - 2);
    switch (type) {
    case 0x0806:
        return FOREIGN_ARP;
    case 0x88cc:
        return FOREIGN_LLDP;
    case 0x8809:
        return FOREIGN_SLOW_PROTOCOLS;
    case 0x8808:
        return FOREIGN_FLOW_CONTROL;
    case 0x88f7:
        return FOREIGN_PTP;
    case 0x0800:
        return FOREIGN_IPV4;
    case 0x86dd:
        return FOREIGN_IPV6;
    default:
        return FOREIGN_OTHER;
    }
}
