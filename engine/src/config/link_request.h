/* SPDX-License-Identifier: Apache-2.0 */
/* A port's link, to be taken down or brought up. */
#ifndef PLIMSOLL_LINK_REQUEST_H
#define PLIMSOLL_LINK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct link_request {
    uint16_t port;
    bool up;
};

#endif
