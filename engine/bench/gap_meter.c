/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records when frames arrive on a port, for pacing.py to look at the gaps between them.
 *
 *   gap-meter EAL-ARGUMENTS -- FILE WARMUP_S SECONDS FRAMES
 *
 * A frame's time is the TSC after the poll that brought it, so it is late by at most a
 * turn of this loop, which is reported as poll_ns. Frames that one poll brought have one
 * time. Next to it stands the time in the frame's own signature (docs/engine-protocol.md),
 * which means nothing where the frame is not the engine's. FILE gets pairs of 64-bit
 * numbers, arrival and signature, at most FRAMES of them; standard output gets one line of
 * JSON.
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
#include <string.h>
#include <unistd.h>

#include "tsc_rate.h"

#define PORT 0
#define BURST 32
#define MBUFS 8191
#define MBUF_CACHE 256
#define DESCRIPTORS 1024
#define FIRST_FRAME_WITHIN_S 30
/* The signature's time: 48 bits, 8 bytes before the frame's end. */
#define TIME_FROM_END 8
#define TIME_MASK ((UINT64_C(1) << 48) - 1)

struct arrival {
    uint64_t at;
    uint64_t signature;
};

struct meter {
    struct arrival *arrivals;
    uint64_t count;
    uint64_t most;
    uint64_t polls;
    uint64_t began;
    uint64_t ended;
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

/* Room for the record, touched, so that no page is missing when frames come. */
static bool
make_room(struct meter *meter, uint64_t most)
{
    meter->arrivals = malloc(most * sizeof(*meter->arrivals));
    if (!meter->arrivals)
        return false;
    memset(meter->arrivals, 0xff, most * sizeof(*meter->arrivals));
    meter->most = most;
    return true;
}

static uint64_t
signature_time(const struct rte_mbuf *mbuf)
{
    uint64_t end;

    if (mbuf->data_len < sizeof(end))
        return 0;
    memcpy(&end, rte_pktmbuf_mtod_offset(mbuf, uint8_t *, mbuf->data_len - TIME_FROM_END),
           sizeof(end));
    return end & TIME_MASK;
}

/* Polls once, records what came if there is room, and returns how many frames that was. */
static uint16_t
poll_port(struct meter *meter)
{
    struct rte_mbuf *mbufs[BURST];
    const uint16_t count = rte_eth_rx_burst(PORT, 0, mbufs, BURST);

    if (count == 0)
        return 0;
    const uint64_t now = rte_rdtsc();
    for (uint16_t i = 0; i < count && meter->count < meter->most; i++)
        meter->arrivals[meter->count++] =
            (struct arrival){.at = now, .signature = signature_time(mbufs[i])};
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

/* Polls for so long, or until the record is full. */
static void
measure(struct meter *meter, double seconds)
{
    meter->count = 0;
    meter->polls = 0;
    meter->began = rte_rdtsc();
    meter->ended = meter->began;
    for (const uint64_t end = meter->began + ticks(seconds);
         meter->ended < end && meter->count < meter->most; meter->ended = rte_rdtsc()) {
        poll_port(meter);
        meter->polls++;
    }
}

static bool
write_record(const struct meter *meter, const char *path)
{
    FILE *file = fopen(path, "wb");
    bool written;

    if (!file)
        return false;
    written = fwrite(meter->arrivals, sizeof(*meter->arrivals), meter->count, file) == meter->count;
    return fclose(file) == 0 && written;
}

static int
set_error(const char *what)
{
    fprintf(stderr, "gap-meter: %s\n", what);
    return EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
    const struct clocks at_start = clocks_read();
    struct meter meter = {0};
    const int eal_arguments = rte_eal_init(argc, argv);

    if (eal_arguments < 0 || argc - eal_arguments != 5)
        return set_error("usage: gap-meter EAL-ARGUMENTS -- FILE WARMUP_S SECONDS FRAMES");
    char **arguments = argv + eal_arguments + 1;

    if (!make_room(&meter, strtoull(arguments[3], NULL, 10)))
        return set_error("no memory for so many frames");
    if (start_port() != 0 || !wait_for_first_frame(&meter))
        return set_error("the port does not start, or no frame came");
    measure(&meter, strtod(arguments[1], NULL));
    measure(&meter, strtod(arguments[2], NULL));
    if (!write_record(&meter, arguments[0]))
        return set_error("cannot write the record");
    const double hz = tsc_rate(at_start, clocks_read());
    printf("{\"frames\": %" PRIu64 ", \"tsc_hz\": %.1f, \"poll_ns\": %.1f}\n", meter.count, hz,
           (double)(meter.ended - meter.began) / hz * 1e9 / (double)meter.polls);
    fflush(stdout);
    pause();
    return EXIT_SUCCESS;
}
