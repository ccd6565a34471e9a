/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/frames/host_frames.h"

#define TYPE_IPV4 0x0800
#define TYPE_ARP 0x0806
#define TYPE_VLAN 0x8100
#define TYPE_IPV6 0x86dd
#define VLAN_ID 0x0fff

#define ETHER_BYTES 14
#define TAG_BYTES 4
#define ARP_BYTES 28
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define ECHO_BYTES 8
#define ND_BYTES 24 /* type, code, checksum, flags, target */
#define LINK_OPTION_BYTES 8

#define ARP_REQUEST 1
#define ARP_REPLY 2
#define PROTOCOL_ICMP 1
#define PROTOCOL_ICMPV6 58
#define ICMP_ECHO_REPLY 0
#define ICMP_ECHO_REQUEST 8
#define ICMPV6_ECHO_REQUEST 128
#define ICMPV6_ECHO_REPLY 129
#define SOLICITATION 135
#define ADVERTISEMENT 136
#define OPTION_SOURCE_LINK 1
#define OPTION_TARGET_LINK 2
#define FLAG_SOLICITED 0x40
#define FLAG_OVERRIDE 0x20
#define ND_HOP_LIMIT 255
#define HOP_LIMIT 64

const char *const host_counter_names[HOST_COUNTERS] = {
    [HOST_ARP] = "arp",           [HOST_ND] = "nd",
    [HOST_ECHO] = "echo",         [HOST_HEARD] = "heard",
    [HOST_ANSWERED] = "answered", [HOST_MOVED] = "moved",
};

static const uint8_t broadcast[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};
static const uint8_t solicited_nodes[13] = {0xff, 0x02, [11] = 1, [12] = 0xff};
static const struct host_frame nothing = {.kind = HOST_NOTHING};

/* A frame behind its Ethernet header, and what that says. */
struct packet {
    const struct host *host;
    const uint8_t *frame;
    const uint8_t *at;
    uint32_t length; /* from `at` on, padding included */
    uint16_t type;
};

static uint16_t
read_word(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static void
write_word(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static uint32_t
add_words(uint32_t sum, const uint8_t *at, uint32_t length)
{
    for (uint32_t i = 0; i + 1 < length; i += 2)
        sum += read_word(at + i);
    if (length % 2 != 0)
        sum += (uint32_t)at[length - 1] << 8;
    return sum;
}

/* RFC 1071's, of a sum of words; over what holds a right checksum it is 0. */
static uint16_t
checksum(uint32_t sum)
{
    sum = (sum >> 16) + (sum & UINT16_MAX);
    return (uint16_t) ~((sum >> 16) + sum);
}

/* Of the pseudo-header of RFC 8200, section 8.1, and of the message. */
static uint16_t
icmpv6_checksum(const uint8_t *source, const uint8_t *destination, const uint8_t *message,
                uint32_t length)
{
    const uint32_t addresses = add_words(add_words(0, source, 16), destination, 16);

    return checksum(add_words(addresses + length + PROTOCOL_ICMPV6, message, length));
}

static bool
is_unicast_mac(const uint8_t *mac)
{
    static const uint8_t none[MAC_BYTES];

    return (mac[0] & 1) == 0 && memcmp(mac, none, MAC_BYTES) != 0;
}

static bool
is_unspecified(const uint8_t *ipv6)
{
    static const uint8_t none[16];

    return memcmp(ipv6, none, 16) == 0;
}

/* A host's own, so neither 0.0.0.0/8 nor a group's nor the broadcast address. */
static bool
is_unicast_ipv4(const uint8_t *ipv4)
{
    return ipv4[0] != 0 && ipv4[0] < 224;
}

static struct ip_address
ip_of(uint8_t version, const uint8_t *bytes)
{
    struct ip_address address = {.version = version};

    memcpy(address.bytes, bytes, version == 4 ? 4 : 16);
    return address;
}

static bool
is_own(const struct host *host, uint8_t version, const uint8_t *bytes)
{
    const struct ip_address address = ip_of(version, bytes);

    for (uint32_t i = 0; i < host->address_count; i++) {
        if (ip_same(&host->addresses[i], &address))
            return true;
    }
    return false;
}

static bool
is_to_own_mac(const struct packet *packet)
{
    return memcmp(packet->frame, packet->host->mac, MAC_BYTES) == 0;
}

/* The group to which who looks for an address speaks (RFC 4291, section 2.7.1). */
static void
write_solicited_node(uint8_t *group, const uint8_t *ipv6)
{
    memcpy(group, solicited_nodes, sizeof(solicited_nodes));
    memcpy(group + 13, ipv6 + 13, 3);
}

/* The MAC address of an IPv6 group (RFC 2464, section 7). */
static void
write_group_mac(uint8_t *mac, const uint8_t *group)
{
    mac[0] = mac[1] = 0x33;
    memcpy(mac + 2, group + 12, 4);
}

static void
claim(struct host_frame *read, uint8_t version, const uint8_t *address, const uint8_t *mac)
{
    if (!is_unicast_mac(mac))
        return;
    read->claimed = ip_of(version, address);
    memcpy(read->claimed_mac, mac, MAC_BYTES);
}

/* Writes an Ethernet header, tagged if the host's are, and returns where the packet goes. */
static uint8_t *
begin_frame(const struct host *host, uint8_t *frame, const uint8_t *destination, uint16_t type)
{
    uint8_t *at = frame + 2 * MAC_BYTES;

    memcpy(frame, destination, MAC_BYTES);
    memcpy(frame + MAC_BYTES, host->mac, MAC_BYTES);
    if (host->tagged) {
        write_word(at, TYPE_VLAN);
        write_word(at + 2, host->vlan);
        at += TAG_BYTES;
    }
    write_word(at, type);
    return at + 2;
}

/* The frame's length, padded to Ethernet's minimum. */
static uint32_t
end_frame(uint8_t *frame, const uint8_t *end)
{
    uint32_t length = (uint32_t)(end - frame);

    if (length < FRAME_MIN_BYTES) {
        memset(frame + length, 0, FRAME_MIN_BYTES - length);
        length = FRAME_MIN_BYTES;
    }
    return length;
}

static uint32_t
write_arp(const struct host *host, uint8_t *frame, const uint8_t *to_mac, uint16_t operation,
          const uint8_t *own, const uint8_t *target_mac, const uint8_t *target)
{
    static const uint8_t ethernet_and_ipv4[] = {0, 1, 0x08, 0x00, MAC_BYTES, 4};
    uint8_t *at = begin_frame(host, frame, to_mac, TYPE_ARP);

    memcpy(at, ethernet_and_ipv4, sizeof(ethernet_and_ipv4));
    write_word(at + 6, operation);
    memcpy(at + 8, host->mac, MAC_BYTES);
    memcpy(at + 14, own, 4);
    memcpy(at + 18, target_mac, MAC_BYTES);
    memcpy(at + 24, target, 4);
    return end_frame(frame, at + ARP_BYTES);
}

static struct host_frame
read_arp(const struct packet *packet, uint8_t *answer)
{
    static const uint8_t ethernet_and_ipv4[] = {0, 1, 0x08, 0x00, MAC_BYTES, 4};
    const uint8_t *at = packet->at, *sender_mac = at + 8, *sender = at + 14, *target = at + 24;
    struct host_frame read = nothing;

    if (packet->length < ARP_BYTES || memcmp(at, ethernet_and_ipv4, sizeof(ethernet_and_ipv4)) != 0)
        return nothing;
    const uint16_t operation = read_word(at + 6);
    if ((operation != ARP_REQUEST && operation != ARP_REPLY) || !is_unicast_mac(sender_mac) ||
        (memcmp(packet->frame, broadcast, MAC_BYTES) != 0 && !is_to_own_mac(packet)))
        return nothing;
    /* Who asks whether an address is taken has none yet (RFC 5227). */
    if (is_unicast_ipv4(sender))
        claim(&read, 4, sender, sender_mac);
    if (!is_own(packet->host, 4, target))
        return read;
    read.kind = operation == ARP_REQUEST ? HOST_ARP : HOST_HEARD;
    if (operation == ARP_REQUEST)
        read.answer_bytes =
            write_arp(packet->host, answer, sender_mac, ARP_REPLY, target, sender_mac, sender);
    return read;
}

static struct host_frame
read_ipv4(const struct packet *packet, uint8_t *answer)
{
    const uint8_t *at = packet->at;
    struct host_frame read = {.kind = HOST_ECHO};

    if (packet->length < IPV4_BYTES || at[0] >> 4 != 4 || !is_to_own_mac(packet))
        return nothing;
    const uint32_t header = (at[0] & 0xfu) * 4, total = read_word(at + 2);
    if (header < IPV4_BYTES || total < header + ECHO_BYTES || total > packet->length ||
        at[9] != PROTOCOL_ICMP || (read_word(at + 6) & 0x3fff) != 0 ||
        checksum(add_words(0, at, header)) != 0 || !is_own(packet->host, 4, at + 16) ||
        !is_unicast_ipv4(at + 12))
        return nothing;
    const uint8_t *message = at + header;
    const uint32_t length = total - header;
    if (message[0] != ICMP_ECHO_REQUEST || message[1] != 0 ||
        checksum(add_words(0, message, length)) != 0)
        return nothing;
    uint8_t *to = begin_frame(packet->host, answer, packet->frame + MAC_BYTES, TYPE_IPV4);
    memset(to, 0, IPV4_BYTES);
    to[0] = 0x45;
    write_word(to + 2, IPV4_BYTES + length);
    memcpy(to + 4, at + 4, 2);
    to[8] = HOP_LIMIT;
    to[9] = PROTOCOL_ICMP;
    memcpy(to + 12, at + 16, 4);
    memcpy(to + 16, at + 12, 4);
    write_word(to + 10, checksum(add_words(0, to, IPV4_BYTES)));
    memcpy(to + IPV4_BYTES, message, length);
    write_word(to + IPV4_BYTES, ICMP_ECHO_REPLY << 8);
    write_word(to + IPV4_BYTES + 2, 0);
    write_word(to + IPV4_BYTES + 2, checksum(add_words(0, to + IPV4_BYTES, length)));
    read.answer_bytes = end_frame(answer, to + IPV4_BYTES + length);
    return read;
}

/* An IPv6 header before `length` bytes of ICMPv6. */
static void
write_ipv6(uint8_t *to, uint32_t length, uint8_t hop_limit, const uint8_t *source,
           const uint8_t *destination)
{
    memset(to, 0, IPV6_BYTES);
    to[0] = 0x60;
    write_word(to + 4, length);
    to[6] = PROTOCOL_ICMPV6;
    to[7] = hop_limit;
    memcpy(to + 8, source, 16);
    memcpy(to + 24, destination, 16);
}

static struct host_frame
read_echo(const struct packet *packet, const uint8_t *message, uint32_t length, uint8_t *answer)
{
    const uint8_t *source = packet->at + 8, *own = packet->at + 24;
    struct host_frame read = {.kind = HOST_ECHO};

    if (length < ECHO_BYTES || !is_to_own_mac(packet) || !is_own(packet->host, 6, own) ||
        is_unspecified(source))
        return nothing;
    uint8_t *to = begin_frame(packet->host, answer, packet->frame + MAC_BYTES, TYPE_IPV6);
    uint8_t *reply = to + IPV6_BYTES;
    write_ipv6(to, length, HOP_LIMIT, own, source);
    memcpy(reply, message, length);
    write_word(reply, ICMPV6_ECHO_REPLY << 8);
    write_word(reply + 2, 0);
    write_word(reply + 2, icmpv6_checksum(own, source, reply, length));
    read.answer_bytes = end_frame(answer, reply + length);
    return read;
}

/*
 * The link-layer address among the options, which is `*mac`, or NULL for none; false where an
 * option has no length or does not fit, for which RFC 4861 wants all of it ignored.
 */
static bool
read_options(const uint8_t *at, uint32_t length, uint8_t kind, const uint8_t **mac)
{
    *mac = NULL;
    while (length > 0) {
        const uint32_t bytes = length < 2 ? 0 : at[1] * 8u;

        if (bytes == 0 || bytes > length)
            return false;
        if (at[0] == kind && bytes == LINK_OPTION_BYTES)
            *mac = at + 2;
        at += bytes;
        length -= bytes;
    }
    return true;
}

/* To the solicitor; or to all, where that has no address yet (RFC 4861, section 7.2.4). */
static uint32_t
write_advertisement(const struct packet *packet, uint8_t *answer, const uint8_t *target,
                    const uint8_t *to_mac)
{
    const uint8_t *asker = packet->at + 8;
    const bool solicited = !is_unspecified(asker);
    const uint8_t *destination = solicited ? asker : all_nodes;
    uint8_t group[MAC_BYTES];

    write_group_mac(group, all_nodes);
    uint8_t *to = begin_frame(packet->host, answer, solicited ? to_mac : group, TYPE_IPV6);
    uint8_t *message = to + IPV6_BYTES;
    const uint32_t length = ND_BYTES + LINK_OPTION_BYTES;
    write_ipv6(to, length, ND_HOP_LIMIT, target, destination);
    memset(message, 0, length);
    message[0] = ADVERTISEMENT;
    message[4] = FLAG_OVERRIDE | (solicited ? FLAG_SOLICITED : 0);
    memcpy(message + 8, target, 16);
    message[ND_BYTES] = OPTION_TARGET_LINK;
    message[ND_BYTES + 1] = 1;
    memcpy(message + ND_BYTES + 2, packet->host->mac, MAC_BYTES);
    write_word(message + 2, icmpv6_checksum(target, destination, message, length));
    return end_frame(answer, message + length);
}

static struct host_frame
read_solicitation(const struct packet *packet, const uint8_t *message, uint32_t length,
                  uint8_t *answer)
{
    const uint8_t *source = packet->at + 8, *destination = packet->at + 24, *target = message + 8;
    const bool asked_by_none = is_unspecified(source);
    struct host_frame read = {.kind = HOST_ND};
    const uint8_t *mac;
    uint8_t group[16];

    if (!read_options(message + ND_BYTES, length - ND_BYTES, OPTION_SOURCE_LINK, &mac) ||
        !is_own(packet->host, 6, target))
        return nothing;
    write_solicited_node(group, target);
    const bool to_group = memcmp(destination, group, 16) == 0;
    if (asked_by_none ? !to_group || mac : !to_group && !is_own(packet->host, 6, destination))
        return nothing;
    if (!mac)
        mac = packet->frame + MAC_BYTES;
    if (!is_unicast_mac(mac))
        return nothing;
    if (!asked_by_none)
        claim(&read, 6, source, mac);
    read.answer_bytes = write_advertisement(packet, answer, target, mac);
    return read;
}

static struct host_frame
read_advertisement(const struct packet *packet, const uint8_t *message, uint32_t length)
{
    const uint8_t *destination = packet->at + 24, *target = message + 8;
    struct host_frame read = nothing;
    const uint8_t *mac;

    if (!read_options(message + ND_BYTES, length - ND_BYTES, OPTION_TARGET_LINK, &mac) ||
        target[0] == 0xff)
        return nothing;
    if (is_own(packet->host, 6, destination))
        read.kind = HOST_HEARD;
    claim(&read, 6, target, mac ? mac : packet->frame + MAC_BYTES);
    return read;
}

static struct host_frame
read_ipv6(const struct packet *packet, uint8_t *answer)
{
    const uint8_t *at = packet->at, *message = at + IPV6_BYTES;

    if (packet->length < IPV6_BYTES || at[0] >> 4 != 6 || at[6] != PROTOCOL_ICMPV6)
        return nothing;
    const uint32_t length = read_word(at + 4);
    if (length < ECHO_BYTES || length > packet->length - IPV6_BYTES || at[8] == 0xff ||
        message[1] != 0 || icmpv6_checksum(at + 8, at + 24, message, length) != 0)
        return nothing;
    if (message[0] == ICMPV6_ECHO_REQUEST)
        return read_echo(packet, message, length, answer);
    /* None that has passed a router is a neighbour's. */
    if (length < ND_BYTES || at[7] != ND_HOP_LIMIT)
        return nothing;
    if (message[0] == SOLICITATION)
        return read_solicitation(packet, message, length, answer);
    return message[0] == ADVERTISEMENT ? read_advertisement(packet, message, length) : nothing;
}

/* Past the Ethernet header; false where the frame is not of the host's network. */
static bool
find_packet(const struct host *host, const uint8_t *frame, uint32_t length, struct packet *packet)
{
    uint32_t at = 2 * MAC_BYTES;
    uint16_t vlan = 0;

    if (length < ETHER_BYTES || !is_unicast_mac(frame + MAC_BYTES) ||
        memcmp(frame + MAC_BYTES, host->mac, MAC_BYTES) == 0)
        return false;
    if (read_word(frame + at) == TYPE_VLAN) {
        if (length < ETHER_BYTES + TAG_BYTES)
            return false;
        vlan = read_word(frame + at + 2) & VLAN_ID;
        at += TAG_BYTES;
    }
    /* A tag of number 0 has a priority alone. */
    if (vlan != (host->tagged ? host->vlan : 0))
        return false;
    *packet = (struct packet){host, frame, frame + at + 2, length - at - 2, read_word(frame + at)};
    return true;
}

struct host_frame
host_frame_read(const struct host *host, const uint8_t *frame, uint32_t length, uint8_t *answer)
{
    struct packet packet;

    if (length > HOST_FRAME_MAX || !find_packet(host, frame, length, &packet))
        return nothing;
    switch (packet.type) {
    case TYPE_ARP:
        return read_arp(&packet, answer);
    case TYPE_IPV4:
        return read_ipv4(&packet, answer);
    case TYPE_IPV6:
        return read_ipv6(&packet, answer);
    default:
        return nothing;
    }
}

/* How many of their first bits are equal. */
static uint32_t
bits_in_common(const struct ip_address *one, const struct ip_address *other)
{
    uint32_t byte = 0, bits;

    while (byte < 15 && one->bytes[byte] == other->bytes[byte])
        byte++;
    bits = byte * 8;
    for (uint8_t bit = 0x80; bit != 0 && ((one->bytes[byte] ^ other->bytes[byte]) & bit) == 0;
         bit >>= 1)
        bits++;
    return bits;
}

static const struct ip_address *
nearest(const struct host *host, const struct ip_address *target)
{
    const struct ip_address *best = NULL;

    for (uint32_t i = 0; i < host->address_count; i++) {
        const struct ip_address *each = &host->addresses[i];

        if (each->version == target->version &&
            (!best || bits_in_common(each, target) > bits_in_common(best, target)))
            best = each;
    }
    return best;
}

static uint32_t
write_solicitation(const struct host *host, uint8_t *frame, const uint8_t *own,
                   const uint8_t *target)
{
    const uint32_t length = ND_BYTES + LINK_OPTION_BYTES;
    uint8_t group[16], mac[MAC_BYTES];

    write_solicited_node(group, target);
    write_group_mac(mac, group);
    uint8_t *to = begin_frame(host, frame, mac, TYPE_IPV6);
    uint8_t *message = to + IPV6_BYTES;
    write_ipv6(to, length, ND_HOP_LIMIT, own, group);
    memset(message, 0, length);
    message[0] = SOLICITATION;
    memcpy(message + 8, target, 16);
    message[ND_BYTES] = OPTION_SOURCE_LINK;
    message[ND_BYTES + 1] = 1;
    memcpy(message + ND_BYTES + 2, host->mac, MAC_BYTES);
    write_word(message + 2, icmpv6_checksum(own, group, message, length));
    return end_frame(frame, message + length);
}

uint32_t
host_frame_ask(const struct host *host, const struct ip_address *target, uint8_t *frame)
{
    static const uint8_t unknown[MAC_BYTES];
    const struct ip_address *own = nearest(host, target);

    if (!own)
        return 0;
    if (target->version == 6)
        return write_solicitation(host, frame, own->bytes, target->bytes);
    return write_arp(host, frame, broadcast, ARP_REQUEST, own->bytes, unknown, target->bytes);
}
