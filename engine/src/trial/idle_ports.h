/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports between trials, when no worker polls them: the main thread has their hosts answer, and
 * asks for neighbours. What came in since the last of these requests is part of the next
 * trial, as is all that would have waited in the queues.
 */
#ifndef PLIMSOLL_IDLE_PORTS_H
#define PLIMSOLL_IDLE_PORTS_H

#include "config/resolve_request.h"
#include "dataplane/loop/run.h"
#include "ports/ports.h"

/* How often the main thread should look, where a port has a host. */
#define IDLE_LOOK_MS 10

struct idle_ports {
    struct port_page pages[PORTS_MAX]; /* what has come since then */
};

/* Whether there is anybody to answer. */
bool idle_ports_have_hosts(const struct ports *ports);

/* Answers what has come; never while a trial runs. */
void idle_ports_serve(struct idle_ports *idle, struct ports *ports);

/* Adds what has come to the first page of a trial whose workers are not started yet. */
void idle_ports_hand_over(struct idle_ports *idle, struct run *run);

/*
 * Asks for the neighbours of the request until all are known or the tries are used up, and
 * leaves what is known in ports->neighbours. `give_up` is polled, and true ends it.
 */
void idle_ports_resolve(struct idle_ports *idle, struct ports *ports,
                        const struct resolve_request *request, bool (*give_up)(void *),
                        void *context);

#endif
