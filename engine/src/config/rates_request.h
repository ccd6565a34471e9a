/* SPDX-License-Identifier: Apache-2.0 */
/* New rates of streams, while the trial that sends them runs. */
#ifndef PLIMSOLL_RATES_REQUEST_H
#define PLIMSOLL_RATES_REQUEST_H

#include <stdint.h>

#include "config/limits.h"

struct rates_request {
    uint64_t streams;               /* a bit for each that changes, in the trial's order */
    uint64_t begins;                /* of these, those that begin anew */
    double rate_pps[STREAMS_MAX];   /* 0 pauses the stream */
    double duration_s[STREAMS_MAX]; /* it ends so long after the change; 0: its end stays */
};

#endif
