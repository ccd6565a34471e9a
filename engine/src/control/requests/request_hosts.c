/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "config/resolve_request.h"
#include "control/requests/request_parts.h"

/* As long as the longest text of an IPv6 address. */
#define ADDRESS_TEXT 45
#define VLAN_LAST 4094
#define TRIES_MAX 100

static bool
parse_address(const char *text, struct ip_address *address)
{
    *address = (struct ip_address){.version = 4};
    if (inet_pton(AF_INET, text, address->bytes) == 1)
        return address->bytes[0] != 0 && address->bytes[0] < 224;
    *address = (struct ip_address){.version = 6};
    return inet_pton(AF_INET6, text, address->bytes) == 1 && address->bytes[0] != 0xff;
}

/* Reads "02:00:00:00:00:01", of one station. */
static bool
parse_mac(const char *text, uint8_t *mac)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t set = 0;

    if (strlen(text) != 3 * MAC_BYTES - 1)
        return false;
    for (uint32_t i = 0; i < 3 * MAC_BYTES - 1; i++) {
        const char *digit = strchr(digits, tolower((unsigned char)text[i]));

        if (i % 3 == 2 ? text[i] != ':' : !digit)
            return false;
        if (i % 3 != 2)
            mac[i / 3] = (uint8_t)(mac[i / 3] << 4 | (uint8_t)(digit - digits));
    }
    for (uint32_t i = 0; i < MAC_BYTES; i++)
        set |= mac[i];
    return set != 0 && (mac[0] & 1) == 0;
}

static int
read_addresses(const struct object *object, struct host *host)
{
    const json_t *array;

    if (read_array(object, "addresses", REQUIRED, 1, HOST_ADDRESSES_MAX, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        char name[32];

        snprintf(name, sizeof(name), "addresses[%zu]", i);
        if (!text || !parse_address(text, &host->addresses[i]))
            return object_set_error(object, name, "must be an IP address of one host");
        for (size_t k = 0; k < i; k++) {
            if (ip_same(&host->addresses[k], &host->addresses[i]))
                return object_set_error(object, name, "is there twice");
        }
    }
    host->address_count = (uint32_t)json_array_size(array);
    return 0;
}

int
read_host(const struct object *port, struct host *host)
{
    static const char *const names[] = {"addresses", "mac", "vlan", NULL};
    uint64_t vlan = 0;
    const char *mac = NULL;
    struct object object;

    if (!json_object_get(port->json, "host"))
        return 0;
    if (read_object(port, "host", &object) != 0 || object_knows(&object, names) != 0 ||
        read_addresses(&object, host) != 0 ||
        read_string(&object, "mac", OPTIONAL, 3 * MAC_BYTES - 1, &mac) != 0 ||
        read_integer(&object, "vlan", OPTIONAL, 1, VLAN_LAST, &vlan) != 0)
        return -EINVAL;
    if (mac && !parse_mac(mac, host->mac))
        return object_set_error(&object, "mac", "must be the MAC address of one station");
    host->has_mac = mac != NULL;
    host->tagged = vlan != 0;
    host->vlan = (uint16_t)vlan;
    host->present = true;
    return 0;
}

static bool
has_address_of(const struct host *host, uint8_t version)
{
    for (uint32_t i = 0; i < host->address_count; i++) {
        if (host->addresses[i].version == version)
            return true;
    }
    return false;
}

static int
read_neighbour(const struct object *object, const struct open_request *config,
               struct neighbours *neighbours)
{
    static const char *const names[] = {"port", "address", NULL};
    struct neighbour *each = &neighbours->neighbour[neighbours->count];
    const char *text;
    uint64_t port = 0;

    if (object_knows(object, names) != 0 ||
        read_integer(object, "port", REQUIRED, 0, PORTS_MAX - 1, &port) != 0 ||
        read_string(object, "address", REQUIRED, ADDRESS_TEXT, &text) != 0)
        return -EINVAL;
    if (port >= config->port_count)
        return object_set_error(object, "port", "there is no port %" PRIu64, port);
    if (!config->ports[port].host.present)
        return object_set_error(object, "port", "port %" PRIu64 " has no host", port);
    if (!parse_address(text, &each->address))
        return object_set_error(object, "address", "must be an IP address of one host");
    if (!has_address_of(&config->ports[port].host, each->address.version))
        return object_set_error(object, "address", "the host of port %" PRIu64 " has no IPv%u",
                                port, each->address.version);
    if (neighbour_find(neighbours, (uint16_t)port, &each->address))
        return object_set_error(object, "address", "is there twice");
    each->port = (uint16_t)port;
    neighbours->count++;
    return 0;
}

int
request_resolve(const json_t *json, const struct open_request *config,
                struct resolve_request *request, struct error *error)
{
    static const char *const names[] = {"id", "request", "tries", "wait_s", "neighbours", NULL};
    const struct object top = object_top(json, error);
    struct object element;
    const json_t *array;
    uint64_t tries = 5;

    request->wait_s = 1;
    if (object_knows(&top, names) != 0 ||
        read_integer(&top, "tries", OPTIONAL, 1, TRIES_MAX, &tries) != 0 ||
        read_number(&top, "wait_s", OPTIONAL, 0.001, 60, &request->wait_s) != 0 ||
        read_array(&top, "neighbours", REQUIRED, 0, NEIGHBOURS_MAX, &array) != 0)
        return -EINVAL;
    request->tries = (uint32_t)tries;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (element_object(&top, "neighbours", array, i, &element) != 0 ||
            read_neighbour(&element, config, &request->neighbours) != 0)
            return -EINVAL;
    }
    return 0;
}
