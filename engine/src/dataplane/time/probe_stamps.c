/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/time/probe_stamps.h"

#include <math.h>

const char *const probe_outcome_names[PROBE_OUTCOMES] = {
    [PROBE_STAMPED] = "stamped",
    [PROBE_NO_TX_STAMP] = "no_tx_stamp",
    [PROBE_NO_RX_STAMP] = "no_rx_stamp",
    [PROBE_UNMATCHED] = "unmatched",
};

/* Whether `a` is before `b`, on a clock that wraps. */
static bool
before(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0;
}

struct port_stamp
port_stamp_of(const struct port_clock *clock, uint64_t stamp)
{
    const uint64_t at = port_clock_to_tsc(clock, stamp);

    return (struct port_stamp){
        .taken = true,
        .at = at,
        .error = (uint64_t)ceil(port_clock_error_at(clock, at)),
    };
}

bool
port_stamp_is_earlier(const struct port_stamp *stamp, uint64_t sent_at)
{
    return before(stamp->at + stamp->error, sent_at);
}

enum probe_outcome
probe_stamps_judge(const struct probe_stamps *probe)
{
    if (!probe->tx.taken)
        return PROBE_NO_TX_STAMP;
    if (!probe->rx.taken)
        return PROBE_NO_RX_STAMP;
    if (port_stamp_is_earlier(&probe->tx, probe->sent_at) ||
        before(probe->rx.at + probe_stamps_error(probe), probe->tx.at) ||
        before(probe->received_at + probe->rx.error, probe->rx.at))
        return PROBE_UNMATCHED;
    return PROBE_STAMPED;
}

uint64_t
probe_stamps_latency(const struct probe_stamps *probe)
{
    return before(probe->rx.at, probe->tx.at) ? 0 : probe->rx.at - probe->tx.at;
}

uint64_t
probe_stamps_error(const struct probe_stamps *probe)
{
    return probe->tx.error + probe->rx.error;
}
