/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded into dpdk-testpmd by LD_PRELOAD: a thread of it that gets SIGUSR1 spins in the handler for
 * as many microseconds as SPIN_US says, in user space. Other programs are left alone.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t length_ns;

static uint64_t
now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static void
spin(int signal)
{
    const uint64_t end = now_ns() + length_ns;

    (void)signal;
    while (now_ns() < end)
        ;
}

__attribute__((constructor)) static void
install(void)
{
    const char *length_us = getenv("SPIN_US");

    if (length_us == NULL || strcmp(program_invocation_short_name, "dpdk-testpmd") != 0)
        return;
    length_ns = strtoull(length_us, NULL, 10) * 1000;
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = spin, .sa_flags = SA_RESTART}, NULL);
}
