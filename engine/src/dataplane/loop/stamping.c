/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/stamping.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_time.h>

/* Of an mbuf's timesync field: which of a port's four registers has the stamp (i40e). */
#define RX_REGISTER_MASK 3

bool
stamping_tx_stamp_ready(struct stamping *stamping, const struct flight *flight, uint64_t now)
{
    struct timespec stamp;

    if (!flight->in_flight || stamping->tx_stamp.taken)
        return true;
    if (rte_eth_timesync_read_tx_timestamp(stamping->tx_dpdk_port, &stamp) == 0) {
        stamping->tx_stamp = port_stamp_of(stamping->tx_clock, rte_timespec_to_ns(&stamp));
        /*
         * One of a probe that was given up is older than the time after which that happens. What
         * is earlier by less is this one's, on clocks that went apart: it is judged, not left out.
         */
        stamping->tx_stamp.taken =
            !port_stamp_is_earlier(&stamping->tx_stamp, flight->sent_at - flight->timeout / 2);
    }
    return stamping->tx_stamp.taken || now - flight->sent_at >= flight->timeout;
}

void
stamping_begin(struct stamping *stamping)
{
    struct timespec stamp;

    if (!stamping->tx_stamp.taken)
        rte_eth_timesync_read_tx_timestamp(stamping->tx_dpdk_port, &stamp);
    stamping->tx_stamp.taken = false;
}

static void
record(const struct worker *worker, struct stamping_page *page, const struct probe_stamps *probe,
       uint64_t number)
{
    const uint64_t latency = probe_stamps_latency(probe), error = probe_stamps_error(probe);
    const uint64_t ns = ticks_to_ns(worker->run, latency);

    page->error = RTE_MAX(page->error, error);
    histogram_record(&page->latency, ns);
    microseconds_record_many(&page->microseconds, ns, 1);
    if (worst_latencies_wants(&page->worst, latency))
        worst_latencies_keep(&page->worst, (struct worst_latency){.latency = latency,
                                                                  .received_at = probe->rx.at,
                                                                  .sequence = number,
                                                                  .frames = 1});
}

void
stamping_count(const struct worker *worker, struct stamping *stamping, const struct flight *flight)
{
    struct stamping_page *page = &stamping->pages[worker->open_page];
    const struct landed_probe *landed = &stamping->landed;
    /* Ordered by flight_look(), which saw that the probe is back. */
    const struct probe_stamps probe = {
        .sent_at = flight->sent_at,
        .received_at = atomic_load_explicit(&landed->received_at, memory_order_relaxed),
        .tx = stamping->tx_stamp,
        .rx = {.taken = atomic_load_explicit(&landed->stamped, memory_order_relaxed),
               .at = atomic_load_explicit(&landed->stamp_at, memory_order_relaxed),
               .error = atomic_load_explicit(&landed->stamp_error, memory_order_relaxed)},
    };
    const enum probe_outcome outcome = probe_stamps_judge(&probe);

    page->outcomes[outcome]++;
    if (outcome == PROBE_STAMPED)
        record(worker, page, &probe, flight->number);
}

/*
 * In the mbuf where the port stamps all that it receives, else in its register, where the frame is
 * marked as the one that was stamped. What is there of another is read as well, to make room.
 */
static bool
read_rx_stamp(const struct rx_queue *queue, const struct rte_mbuf *mbuf, uint64_t *ns)
{
    struct timespec stamp;

    if ((mbuf->ol_flags & queue->stamp_flag) != 0) {
        *ns = *RTE_MBUF_DYNFIELD(mbuf, queue->stamp_offset, const rte_mbuf_timestamp_t *);
        return true;
    }
    if (rte_eth_timesync_read_rx_timestamp(queue->dpdk_port, &stamp,
                                           mbuf->timesync & RX_REGISTER_MASK) != 0)
        return false;
    *ns = rte_timespec_to_ns(&stamp);
    return (mbuf->ol_flags & RTE_MBUF_F_RX_IEEE1588_TMST) != 0;
}

void
stamping_landed(struct stamping *stamping, const struct flight *flight,
                const struct rx_queue *queue, const struct rte_mbuf *mbuf, uint64_t number,
                uint64_t now)
{
    struct landed_probe *landed = &stamping->landed;
    struct port_stamp stamp = {0};
    uint64_t ns;

    /* Read in any case, for until then the port stamps no other. */
    if (read_rx_stamp(queue, mbuf, &ns))
        stamp = port_stamp_of(stamping->rx_clock, ns);
    /* What the sender may be looking at is left alone by a probe that is late, or comes twice. */
    if (number < atomic_load_explicit(&flight->returned, memory_order_relaxed))
        return;
    atomic_store_explicit(&landed->received_at, now, memory_order_relaxed);
    atomic_store_explicit(&landed->stamp_at, stamp.at, memory_order_relaxed);
    atomic_store_explicit(&landed->stamp_error, stamp.error, memory_order_relaxed);
    atomic_store_explicit(&landed->stamped, stamp.taken, memory_order_relaxed);
}
