/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes whose latency is between the stamps of two ports (DPDK's timesync): the one in flight,
 * and what came of those before. A port keeps one stamp each way, of frames that it knows as
 * PTP's, until it is read; so there is one such stream to a port and direction.
 *
 * The worker that receives reads the receiving port's stamp and leaves it here before it says
 * that the probe is back; all else is the sending worker's, pages as in run.h.
 */
#ifndef PLIMSOLL_STAMPING_H
#define PLIMSOLL_STAMPING_H

#include <stdalign.h>
#include <stdatomic.h>

#include "dataplane/loop/run.h"
#include "dataplane/time/probe_stamps.h"

struct rte_mbuf;

struct stamping_page {
    uint64_t outcomes[PROBE_OUTCOMES];
    uint64_t error; /* ticks: the largest bound on a latency's error */
    struct histogram latency;
    struct microseconds microseconds;
    struct worst_latencies worst;
};

/* What the receiving worker leaves of the probe that came back last. */
struct landed_probe {
    alignas(64) _Atomic uint64_t received_at;
    _Atomic uint64_t stamp_at;
    _Atomic uint64_t stamp_error;
    _Atomic bool stamped;
};

struct stamping {
    struct landed_probe landed;
    alignas(64) const struct port_clock *tx_clock;
    const struct port_clock *rx_clock;
    uint16_t tx_dpdk_port;
    struct port_stamp tx_stamp; /* of the probe in flight, once it was read */
    struct stamping_page pages[2];
};

/*
 * Reads the sending port's stamp of the probe in flight, unless it is there already. Returns
 * whether the probe needs no more of it: it has come, or the probe's time ran out.
 */
bool stamping_tx_stamp_ready(struct stamping *stamping, const struct flight *flight, uint64_t now);

/* Counts a probe that came back, by its stamps, in the sending worker's open page. */
void stamping_count(const struct worker *worker, struct stamping *stamping,
                    const struct flight *flight);

/* Before the next probe is handed to the port, whose stamp of one that was given up goes. */
void stamping_begin(struct stamping *stamping);

/* Reads the receiving port's stamp of a probe that has just been taken from the queue. */
void stamping_landed(struct stamping *stamping, const struct flight *flight,
                     const struct rx_queue *queue, const struct rte_mbuf *mbuf, uint64_t number,
                     uint64_t now);

#endif
