/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two ports stamped of one probe: whether both stamps are its own, and its latency.
 *
 * A port has room for one stamp each way and does not say whose it is. With one probe in flight
 * its stamp lies within the probe's own time: the sending port's after the frame was handed to
 * it, the receiving port's not before that, and not after the frame was taken from the queue.
 * What does not is of another frame: one of an earlier probe that was given up, or someone
 * else's PTP. All times are TSC, mapped by port_clock.h, each stamp with the bound of its error.
 */
#ifndef PLIMSOLL_PROBE_STAMPS_H
#define PLIMSOLL_PROBE_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/time/port_clock.h"

struct port_stamp {
    bool taken;
    uint64_t at;    /* TSC */
    uint64_t error; /* ticks: the stamp was taken from at - error to at + error */
};

struct probe_stamps {
    uint64_t sent_at;     /* when the probe was handed to the port */
    uint64_t received_at; /* when it was taken from the receive queue */
    struct port_stamp tx;
    struct port_stamp rx;
};

/* What came of a probe that came back; each is one of these. */
enum probe_outcome {
    PROBE_STAMPED,
    PROBE_NO_TX_STAMP, /* the receiving port's may be there or not */
    PROBE_NO_RX_STAMP,
    PROBE_UNMATCHED, /* a stamp that cannot be the probe's */
    PROBE_OUTCOMES
};

/* As the protocol names them. */
extern const char *const probe_outcome_names[PROBE_OUTCOMES];

/* A stamp of the port's clock. */
struct port_stamp port_stamp_of(const struct port_clock *clock, uint64_t stamp);

/* Whether it is too early for a probe that was handed over at `sent_at`. */
bool port_stamp_is_earlier(const struct port_stamp *stamp, uint64_t sent_at);

enum probe_outcome probe_stamps_judge(const struct probe_stamps *probe);

/*
 * Ticks from one port's stamp to the other's, of a probe judged PROBE_STAMPED; 0 where the
 * receiving port's is earlier, within the clocks' error.
 */
uint64_t probe_stamps_latency(const struct probe_stamps *probe);

/* The bound in ticks on the error of that latency. */
uint64_t probe_stamps_error(const struct probe_stamps *probe);

#endif
