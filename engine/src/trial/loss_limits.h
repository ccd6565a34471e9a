/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a trial that has lost more than it may, here and not by the driver: on a machine
 * whose every CPU is polled, a driver that wakes to decide it takes milliseconds from the
 * loops, and causes losses of its own.
 */
#ifndef PLIMSOLL_LOSS_LIMITS_H
#define PLIMSOLL_LOSS_LIMITS_H

#include "trial/trial.h"

/* What the streams of one limit have lost, interval by interval. */
struct loss_count {
    int64_t lost;      /* gaps, refusals and what was sent into silence; late frames come off */
    int64_t excused;   /* of those: may have been lost while our own loops were away */
    int64_t left_over; /* what the last interval's stalls may still excuse in the next */
    bool exceeded;     /* when the last interval ended */
};

struct loss_limits {
    struct loss_count counts[LOSS_LIMITS_MAX];
    struct silence {
        int64_t unanswered; /* sent in the stream's last silent interval */
        int64_t lost;       /* sent in silent intervals before: no gap shows it yet */
    } silences[STREAMS_MAX];
};

/*
 * Accounts for the interval that the trial has just closed. Returns true once a limit was
 * exceeded at the ends of two intervals one after the other: frames out of order leave gaps
 * for a moment.
 */
bool loss_limits_exceeded(struct loss_limits *limits, const struct trial *trial);

#endif
