/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DUT that holds frames for known times and does known wrongs to known frames, and says
 * exactly what it did: the truth that the engine's figures are held against.
 *
 *   delay-dut EAL-ARGUMENTS        e.g. --lcores 0@0,1@1 --vdev net_memif0,role=server,…
 *
 * Its ports are those of the EAL's arguments, in their order. One worker lcore forwards.
 * Every line on standard input is a request, answered by one line on standard output:
 *
 *   {"behave": BEHAVIOUR}   forget all, and behave so from now on (behaviour.h)
 *   {"report": true}        what was done since (report.h)
 *
 * It forwards nothing before the first. The end of input ends it.
 */
#include <errno.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dut.h"
#include "forward.h"
#include "report.h"
#include "tsc_rate.h"

/* More than may be held, wait in rings and lie in caches. */
#define MBUFS 16383
#define MBUF_CACHE 256
#define DESCRIPTORS 1024
#define WHY_MAX 256

static int
start_port(uint16_t port, struct rte_mempool *pool)
{
    struct rte_eth_conf conf = {0};
    int status = rte_eth_dev_configure(port, 1, 1, &conf);

    if (status == 0)
        status = rte_eth_rx_queue_setup(port, 0, DESCRIPTORS, SOCKET_ID_ANY, NULL, pool);
    if (status == 0)
        status = rte_eth_tx_queue_setup(port, 0, DESCRIPTORS, SOCKET_ID_ANY, NULL);
    return status == 0 ? rte_eth_dev_start(port) : status;
}

static int
start_ports(struct dut *dut)
{
    dut->pool = rte_pktmbuf_pool_create("frames", MBUFS, MBUF_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                        SOCKET_ID_ANY);
    if (!dut->pool)
        return -rte_errno;
    dut->port_count = rte_eth_dev_count_avail();
    if (dut->port_count == 0 || dut->port_count > PORTS_MAX)
        return -EINVAL;
    for (uint16_t port = 0; port < dut->port_count; port++) {
        const int status = start_port(port, dut->pool);

        if (status != 0)
            return status;
    }
    return 0;
}

static void
stop_forwarding(struct dut *dut)
{
    atomic_store(&dut->stop, true);
    rte_eal_mp_wait_lcore();
    atomic_store(&dut->stop, false);
}

static int
start_forwarding(struct dut *dut)
{
    return rte_eal_remote_launch(forward_loop, dut, rte_get_next_lcore(-1, 1, 0));
}

static json_t *
behave(struct dut *dut, const json_t *requested)
{
    char why[WHY_MAX] = "";

    if (behaviour_read(&dut->behaviour, requested, dut->port_count, why, sizeof(why)) != 0) {
        /* Half a behaviour is none. */
        dut->behaviour.path_count = 0;
        return json_pack("{s:s}", "error", why);
    }
    dut_begin(dut);
    return json_pack("{s:b}", "ready", 1);
}

static json_t *
answer(struct dut *dut, const json_t *request)
{
    const json_t *requested = json_object_get(request, "behave");

    if (requested)
        return behave(dut, requested);
    if (json_object_get(request, "report"))
        return report(dut);
    return json_pack("{s:s}", "error", "ask it to behave or to report");
}

static int
answer_line(struct dut *dut, const char *line)
{
    json_error_t error;
    json_t *request = json_loads(line, 0, &error);

    stop_forwarding(dut);
    json_t *reply = request ? answer(dut, request) : json_pack("{s:s}", "error", error.text);
    const int status = start_forwarding(dut);
    if (reply)
        json_dumpf(reply, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(reply);
    json_decref(request);
    return fflush(stdout) == 0 ? status : -errno;
}

static int
serve(struct dut *dut)
{
    char *line = NULL;
    size_t size = 0;
    int status = start_forwarding(dut);

    while (status == 0 && getline(&line, &size, stdin) > 0)
        status = answer_line(dut, line);
    free(line);
    stop_forwarding(dut);
    return status;
}

int
main(int argc, char **argv)
{
    const struct clocks at_start = clocks_read();

    if (rte_eal_init(argc, argv) < 0 || rte_lcore_count() != 2) {
        fprintf(stderr, "usage: delay-dut EAL-ARGUMENTS, with two lcores and at least a port\n");
        return EXIT_FAILURE;
    }
    struct dut *dut = rte_zmalloc("dut", sizeof(*dut), 0);
    int status = dut ? start_ports(dut) : -ENOMEM;
    if (status == 0) {
        /* Starting took a few tenths of a second. */
        dut->tsc_hz = tsc_rate(at_start, clocks_read());
        status = serve(dut);
    }
    if (status != 0)
        fprintf(stderr, "delay-dut: %s\n", strerror(-status));
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
