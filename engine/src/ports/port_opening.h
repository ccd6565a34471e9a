/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening all ports, each as far as its peer lets it: a memif client or virtio-user
 * device cannot open before a peer listens on its socket, which may be another port
 * of this process.
 */
#ifndef PLIMSOLL_PORT_OPENING_H
#define PLIMSOLL_PORT_OPENING_H

#include "ports/ports.h"

/* How far a port has come. */
enum port_stage { STAGE_NONE, STAGE_FOUND, STAGE_CONFIGURED, STAGE_STARTED, STAGE_LINKED };

struct port_opening {
    struct ports *ports;
    const struct open_request *request;
    enum port_stage stage[PORTS_MAX];
    double tried_s[PORTS_MAX]; /* when its peer was last tried */
};

/*
 * Takes every port as far as it goes by now, `now_s` on any clock that goes on. Returns 0
 * when all have a link, -EAGAIN when some peer or link is missing, or an error with the
 * error.
 */
int port_opening_go_on(struct port_opening *opening, double now_s, struct error *error);

/* Complains of the first port that has no link yet: what it waits for. Returns -ETIMEDOUT. */
int port_opening_timed_out(const struct port_opening *opening, struct error *error);

#endif
