/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/port_opening.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ports/devargs.h"
#include "ports/port_limits.h"
#include "ports/port_setup.h"

/* How long a peer may take to answer before the port is started anew. */
#define ANSWER_S 4.0
/* Between tries to connect to a peer, of which each that fails is a line in the log. */
#define RETRY_S 0.2
/* From the making of a socket until its maker's ports are started; testpmd takes 0.3 s here. */
#define SETTLING_S 1.0

/* The socket on which a peer of the port must listen; false where there is none. */
static bool
connects_to(const struct port_opening *opening, uint32_t number, struct peer_socket *socket)
{
    return devargs_peer_socket(opening->request->ports[number].devargs, socket) && socket->connects;
}

static bool
may_be_served(const struct peer_socket *socket)
{
    return socket->abstract || access(socket->path, F_OK) == 0;
}

/*
 * Whether the peer has had time to start its ports since it made the socket. One that is
 * still at it refuses its clients, and DPDK's may then die (22.11, 24.11): "Error adding fd".
 */
static bool
has_settled(const struct peer_socket *socket)
{
    struct timespec now;
    struct stat made;

    if (socket->abstract || stat(socket->path, &made) != 0)
        return true;
    clock_gettime(CLOCK_REALTIME, &now);
    const double age_s = (double)(now.tv_sec - made.st_mtim.tv_sec) +
                         (double)(now.tv_nsec - made.st_mtim.tv_nsec) / 1e9;

    return age_s < 0 || age_s >= SETTLING_S;
}

/* Whether it is time to open the port further, which its peer may prevent. */
static bool
is_time(const struct port_opening *opening, uint32_t number, const struct peer_socket *socket,
        double now_s)
{
    return has_settled(socket) && now_s - opening->tried_s[number] >= RETRY_S;
}

static int
make_port(const struct port_request *request, uint32_t number, struct port *port,
          struct error *error)
{
    const int status = port_find(request, &port->dpdk_port);
    char name[RTE_ETH_NAME_MAX_LEN] = "", what[128];

    if (status == 0)
        return 0;
    devargs_name(request->devargs, name, sizeof(name));
    snprintf(what, sizeof(what), "DPDK cannot open this device, %s", name);
    return port_set_error(error, number, status, what);
}

static int
make_or_start(const struct port_opening *opening, uint32_t number, struct error *error)
{
    struct port *port = &opening->ports->port[number];
    int status;

    if (opening->stage[number] == STAGE_NONE)
        return make_port(&opening->request->ports[number], number, port, error);
    status = port_start(port);
    return status == 0 ? 0 : port_set_error(error, number, status, "cannot be started");
}

/* Makes or starts the port. An error that a missing peer explains is none yet. */
static int
try(struct port_opening *opening, uint32_t number, double now_s, struct error *error)
{
    struct peer_socket socket;

    if (!connects_to(opening, number, &socket)) {
        if (socket.at_once)
            return port_set_error(error, number, -ENOTSUP,
                                  "server=1 waits without end: let the peer listen");
        return make_or_start(opening, number, error);
    }
    /* In one process a memif client made before its server would keep that from listening. */
    if (!may_be_served(&socket))
        return -EAGAIN;
    if (opening->stage[number] == STAGE_NONE && !socket.at_once)
        return make_or_start(opening, number, error);
    if (!is_time(opening, number, &socket, now_s))
        return -EAGAIN;
    opening->tried_s[number] = now_s;
    return make_or_start(opening, number, error) == 0 ? 0 : -EAGAIN;
}

/*
 * A memif server that is not started yet accepts connections and hangs up, and a client
 * does not try again by itself.
 */
static int
look_at_link(struct port_opening *opening, uint32_t number, double now_s)
{
    const struct port *port = &opening->ports->port[number];
    struct peer_socket socket;

    if (port_link_up(port))
        return 0;
    if (connects_to(opening, number, &socket) && now_s - opening->tried_s[number] >= ANSWER_S) {
        rte_eth_dev_stop(port->dpdk_port);
        opening->stage[number] = STAGE_CONFIGURED;
    }
    return -EAGAIN;
}

/* One step. Returns 0, -EAGAIN where a peer or link is missing, or an error with the error. */
static int
step(struct port_opening *opening, uint32_t number, double now_s, struct error *error)
{
    switch (opening->stage[number]) {
    case STAGE_NONE:
    case STAGE_CONFIGURED:
        return try(opening, number, now_s, error);
    case STAGE_FOUND:
        return port_configure(&opening->ports->port[number], number, opening->request, error);
    case STAGE_STARTED:
        return look_at_link(opening, number, now_s);
    case STAGE_LINKED:
        break;
    }
    return 0;
}

int
port_opening_go_on(struct port_opening *opening, double now_s, struct error *error)
{
    bool awaited = false;

    for (uint32_t i = 0; i < opening->request->port_count; i++) {
        int status = 0;

        while (status == 0 && opening->stage[i] != STAGE_LINKED) {
            status = step(opening, i, now_s, error);
            opening->stage[i] += status == 0;
        }
        if (status == -EAGAIN)
            awaited = true;
        else if (status != 0)
            return status;
    }
    return awaited ? -EAGAIN : 0;
}

int
port_opening_timed_out(const struct port_opening *opening, struct error *error)
{
    const char *what = "the link did not come up";
    struct peer_socket socket;
    char where[32], text[192];
    uint32_t number = 0;

    while (opening->stage[number] == STAGE_LINKED)
        number++;
    if (!devargs_peer_socket(opening->request->ports[number].devargs, &socket))
        return port_set_error(error, number, -ETIMEDOUT, what);
    if (!socket.connects)
        snprintf(text, sizeof(text), "%s: no peer came to the socket %s", what, socket.path);
    else if (!may_be_served(&socket))
        snprintf(text, sizeof(text), "nothing serves the socket %s", socket.path);
    else if (opening->stage[number] < STAGE_STARTED)
        snprintf(text, sizeof(text), "cannot connect to the socket %s: is it served?", socket.path);
    else
        snprintf(text, sizeof(text), "%s: the peer at %s does not answer", what, socket.path);
    snprintf(where, sizeof(where), "ports[%u]", number);
    return set_error(error, -ETIMEDOUT, where, "%s", text);
}
