/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a received frame should be counted as, worked out the slow and plain way from
 * docs/engine-protocol.md: what the receiver's own judgement is held against.
 */
#ifndef PLIMSOLL_VERDICT_H
#define PLIMSOLL_VERDICT_H

#include <stdint.h>

/* The trial that the fuzzed receiver runs: its mark, and the streams that it knows. */
#define TRIAL_MARK 0x1234
#define HOME_STREAM 5    /* comes in on the fuzzed queue */
#define PROBE_STREAM 700 /* so does this, one probe in flight */
#define AWAY_STREAM 65535

enum verdict {
    VERDICT_HOME,
    VERDICT_PROBE,
    VERDICT_MISDIRECTED,
    VERDICT_CORRUPT,
    VERDICT_STALE,
    VERDICT_FOREIGN,
    VERDICTS,
};

enum verdict verdict_of(const uint8_t *frame, uint32_t length);

#endif
