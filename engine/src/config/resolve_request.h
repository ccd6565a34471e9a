/* SPDX-License-Identifier: Apache-2.0 */
/* Whose MAC addresses are looked for, and how patiently. */
#ifndef PLIMSOLL_RESOLVE_REQUEST_H
#define PLIMSOLL_RESOLVE_REQUEST_H

#include "config/host.h"

struct resolve_request {
    uint32_t tries; /* requests for each address, at most */
    double wait_s;  /* for the answer to each of them */
    struct neighbours neighbours;
};

#endif
