/* SPDX-License-Identifier: Apache-2.0 */
/* Who the tester is on a port, and whom it knows there: IP addresses, and the MACs they have. */
#ifndef PLIMSOLL_HOST_H
#define PLIMSOLL_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "config/limits.h"

#define MAC_BYTES 6

struct ip_address {
    uint8_t version;   /* 4, 6, or 0 for none */
    uint8_t bytes[16]; /* in network order; of IPv4 the first four, the others 0 */
};

/* The tester as a host: what it answers for, and by what it asks. */
struct host {
    bool present;
    bool has_mac; /* else it is the port's own, once that is open */
    bool tagged;  /* its frames have a tag of IEEE 802.1Q */
    uint16_t vlan;
    uint8_t mac[MAC_BYTES];
    uint32_t address_count;
    struct ip_address addresses[HOST_ADDRESSES_MAX];
};

/* Another host, on the wire of a port. */
struct neighbour {
    uint16_t port;
    bool known; /* someone has said that the address is at `mac` */
    uint8_t mac[MAC_BYTES];
    struct ip_address address;
    uint32_t tries; /* requests that were sent for it */
};

struct neighbours {
    uint32_t count;
    struct neighbour neighbour[NEIGHBOURS_MAX];
};

static inline bool
ip_same(const struct ip_address *one, const struct ip_address *other)
{
    return one->version == other->version && memcmp(one->bytes, other->bytes, 16) == 0;
}

/* The entry of an address on a port, or NULL. */
static inline struct neighbour *
neighbour_find(struct neighbours *neighbours, uint16_t port, const struct ip_address *address)
{
    for (uint32_t i = 0; i < neighbours->count; i++) {
        struct neighbour *each = &neighbours->neighbour[i];

        if (each->port == port && ip_same(&each->address, address))
            return each;
    }
    return NULL;
}

#endif
