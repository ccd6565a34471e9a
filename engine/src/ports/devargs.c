/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/devargs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int
copy(char *to, size_t size, const char *from, size_t length)
{
    if (length >= size)
        return -ENAMETOOLONG;
    memcpy(to, from, length);
    to[length] = '\0';
    return 0;
}

bool
devargs_is_pci(const char *devargs)
{
    return devargs[strspn(devargs, "0123456789abcdefABCDEF")] == ':';
}

int
devargs_name(const char *devargs, char *name, size_t size)
{
    return copy(name, size, devargs, strcspn(devargs, ","));
}

int
devargs_value(const char *devargs, const char *key, char *value, size_t size)
{
    const size_t key_length = strlen(key);

    for (const char *at = strchr(devargs, ','); at; at = strchr(at, ',')) {
        at++;
        if (strncmp(at, key, key_length) == 0 && at[key_length] == '=') {
            at += key_length + 1;
            return copy(value, size, at, strcspn(at, ","));
        }
    }
    return -ENOENT;
}

static bool
has_value(const char *devargs, const char *key, const char *expected)
{
    char value[16];

    return devargs_value(devargs, key, value, sizeof(value)) == 0 && strcmp(value, expected) == 0;
}

static bool
begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool
devargs_peer_socket(const char *devargs, struct peer_socket *socket)
{
    const char *key;

    *socket = (struct peer_socket){0};
    if (begins(devargs, "net_memif")) {
        key = "socket";
        socket->connects = !has_value(devargs, "role", "server");
        /* The driver's own choice where the devargs make none. */
        socket->abstract = !has_value(devargs, "socket-abstract", "no");
        snprintf(socket->path, sizeof(socket->path), "/run/memif.sock");
    } else if (begins(devargs, "net_virtio_user") || begins(devargs, "virtio_user")) {
        key = "path";
        socket->at_once = true;
        socket->connects = !has_value(devargs, "server", "1");
    } else if (begins(devargs, "net_vhost") || begins(devargs, "eth_vhost")) {
        key = "iface";
        socket->connects = has_value(devargs, "client", "1");
    } else {
        return false;
    }
    const int status = devargs_value(devargs, key, socket->path, sizeof(socket->path));

    /* virtio-user also opens the kernel's character devices, behind which nothing listens. */
    return status != -ENAMETOOLONG && socket->path[0] == '/' && !begins(socket->path, "/dev/");
}
