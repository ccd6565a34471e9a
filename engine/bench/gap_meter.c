/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the gaps between the frames that arrive on a port, as MoonGen's paper does:
 * the share of gaps within some distance of the ideal one.
 *
 *   gap-meter EAL-ARGUMENTS -- GAP_NS WARMUP_S SECONDS
 *
 * A frame's time is the TSC after the poll that brought it, so it is late by at most a
 * turn of this loop, which is reported as poll_ns. Frames that one poll brought have no
 * gap between them. The result is one line of JSON on standard output.
 *
 * Then it waits to be ended, because a memif driver whose peer goes away while it sends
 * may crash.
 */
#include <inttypes.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PORT 0
#define BURST 32
#define MBUFS 8191
#define MBUF_CACHE 256
#define DESCRIPTORS 1024
#define FIRST_FRAME_WITHIN_S 30

static const uint64_t distances_ns[] = {64, 128, 256, 512};
#define DISTANCES RTE_DIM(distances_ns)

struct meter {
    uint64_t ideal; /* ticks */
    uint64_t distances[DISTANCES];
    uint64_t gaps;
    uint64_t within[DISTANCES];
    uint64_t polls;
    uint64_t began;
    uint64_t ended;
    uint64_t last;
};

static uint64_t
ticks(double seconds)
{
    return (uint64_t)(seconds * (double)rte_get_tsc_hz());
}

static int
start_port(void)
{
    struct rte_eth_conf conf = {0};
    struct rte_mempool *pool = rte_pktmbuf_pool_create(
        "frames", MBUFS, MBUF_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, rte_eth_dev_socket_id(PORT));
    int status;

    if (!pool || !rte_eth_dev_is_valid_port(PORT))
        return -1;
    status = rte_eth_dev_configure(PORT, 1, 1, &conf);
    if (status == 0)
        status = rte_eth_rx_queue_setup(PORT, 0, DESCRIPTORS, rte_socket_id(), NULL, pool);
    if (status == 0)
        status = rte_eth_tx_queue_setup(PORT, 0, DESCRIPTORS, rte_socket_id(), NULL);
    return status == 0 ? rte_eth_dev_start(PORT) : status;
}

static void
count_gap(struct meter *meter, uint64_t gap)
{
    const uint64_t distance = gap > meter->ideal ? gap - meter->ideal : meter->ideal - gap;

    meter->gaps++;
    for (uint32_t i = 0; i < DISTANCES; i++)
        meter->within[i] += distance <= meter->distances[i];
}

/* Polls once and returns how many frames came, their time in meter->last. */
static uint16_t
poll_port(struct meter *meter)
{
    struct rte_mbuf *mbufs[BURST];
    const uint16_t count = rte_eth_rx_burst(PORT, 0, mbufs, BURST);

    if (count == 0)
        return 0;
    meter->last = rte_rdtsc();
    rte_pktmbuf_free_bulk(mbufs, count);
    return count;
}

static bool
wait_for_first_frame(struct meter *meter)
{
    const uint64_t deadline = rte_rdtsc() + ticks(FIRST_FRAME_WITHIN_S);

    while (poll_port(meter) == 0) {
        if (rte_rdtsc() > deadline)
            return false;
    }
    return true;
}

static void
warm_up(struct meter *meter, double seconds)
{
    const uint64_t end = meter->last + ticks(seconds);

    while (meter->last < end && rte_rdtsc() < end + ticks(1))
        poll_port(meter);
}

static void
measure(struct meter *meter, double seconds)
{
    uint64_t before = meter->last;

    meter->began = rte_rdtsc();
    meter->ended = meter->began;
    for (const uint64_t end = meter->began + ticks(seconds); meter->ended < end;
         meter->ended = rte_rdtsc()) {
        const uint16_t count = poll_port(meter);

        meter->polls++;
        for (uint16_t i = 0; i < count; i++, before = meter->last)
            count_gap(meter, meter->last - before);
    }
}

static void
print(const struct meter *meter)
{
    const double ns = (double)(meter->ended - meter->began) * 1e9 / (double)rte_get_tsc_hz();

    printf("{\"gaps\": %" PRIu64 ", \"seconds\": %.6f, \"poll_ns\": %.1f, \"within_ns\": {",
           meter->gaps, ns / 1e9, ns / (double)meter->polls);
    for (uint32_t i = 0; i < DISTANCES; i++)
        printf("%s\"%" PRIu64 "\": %" PRIu64, i > 0 ? ", " : "", distances_ns[i], meter->within[i]);
    printf("}}\n");
}

int
main(int argc, char **argv)
{
    struct meter meter = {0};
    const int eal_arguments = rte_eal_init(argc, argv);

    if (eal_arguments < 0 || argc - eal_arguments != 4) {
        fprintf(stderr, "usage: gap-meter EAL-ARGUMENTS -- GAP_NS WARMUP_S SECONDS\n");
        return EXIT_FAILURE;
    }
    const char *const *arguments = (const char *const *)argv + eal_arguments + 1;

    meter.ideal = ticks(strtod(arguments[0], NULL) / 1e9);
    for (uint32_t i = 0; i < DISTANCES; i++)
        meter.distances[i] = ticks((double)distances_ns[i] / 1e9);
    if (start_port() != 0 || !wait_for_first_frame(&meter)) {
        fprintf(stderr, "gap-meter: the port does not start, or no frame came\n");
        return EXIT_FAILURE;
    }
    warm_up(&meter, strtod(arguments[1], NULL));
    measure(&meter, strtod(arguments[2], NULL));
    print(&meter);
    fflush(stdout);
    pause();
    return EXIT_SUCCESS;
}
