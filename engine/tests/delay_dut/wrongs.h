/* SPDX-License-Identifier: Apache-2.0 */
/* Doing wrong to chosen frames, and keeping account of it. */
#ifndef DELAY_DUT_WRONGS_H
#define DELAY_DUT_WRONGS_H

#include "dut.h"

/* What is to become of a frame. */
struct fate {
    bool dropped;
    uint32_t copies;                       /* to be sent besides */
    uint32_t later;                        /* numbers that overtake it */
    uint32_t injected;                     /* frames to be sent behind it */
    const struct bytes *frame[WRONGS_MAX]; /* those */
};

/*
 * Does the path's wrongs to frame `number` of its stream, as far as they are done to the
 * frame itself, and says what else is to be done.
 */
struct fate wrongs_do(struct path *path, struct held *held, uint32_t number);

#endif
