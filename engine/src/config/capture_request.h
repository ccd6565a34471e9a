/* SPDX-License-Identifier: Apache-2.0 */
/* Which received frames a trial keeps, and how much of them. */
#ifndef PLIMSOLL_CAPTURE_REQUEST_H
#define PLIMSOLL_CAPTURE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "config/limits.h"

/* One port's, as the trial begins. */
struct capture_request {
    uint16_t port;
    bool on;                         /* from the begin; else not until a switch */
    uint32_t snap_bytes;             /* kept of each frame */
    uint64_t most_frames;            /* in the file */
    char path[CAPTURE_PATH_MAX + 1]; /* of a file that is not there yet */
};

/* On or off, while the trial runs. */
struct capture_switch {
    uint32_t capture; /* its place in the trial's request */
    bool on;
    char path[CAPTURE_PATH_MAX + 1]; /* of another file to go on with, or empty */
};

#endif
