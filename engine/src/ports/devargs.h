/* SPDX-License-Identifier: Apache-2.0 */
/* What devargs say ("net_memif0,role=client,socket=/run/x"), read without asking DPDK. */
#ifndef PLIMSOLL_DEVARGS_H
#define PLIMSOLL_DEVARGS_H

#include <stdbool.h>
#include <stddef.h>

/* A PCI address starts with hexadecimal digits and a colon, a virtual device's name does not. */
bool devargs_is_pci(const char *devargs);

/* The device's name, up to the first comma. Returns 0 or -ENAMETOOLONG. */
int devargs_name(const char *devargs, char *name, size_t size);

/*
 * The value of the first argument called `key`. Returns 0, -ENOENT where there is none,
 * or -ENAMETOOLONG where it does not fit.
 */
int devargs_value(const char *devargs, const char *key, char *value, size_t size);

/* A Unix socket by which a device meets its peer. */
struct peer_socket {
    bool connects; /* the peer listens and the device connects; else the other way round */
    bool at_once;  /* it meets its peer when it is made, others when they are started */
    bool abstract; /* not a file */
    char path[108];
};

/*
 * The socket of a memif, vhost or virtio-user device: true and the socket, or false for
 * a device that has none.
 */
bool devargs_peer_socket(const char *devargs, struct peer_socket *socket);

#endif
