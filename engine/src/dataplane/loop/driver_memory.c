/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/driver_memory.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

union driver_memory_readers driver_memory_readers;

/* Set in a worker's own thread, which cannot wait for itself. */
static _Thread_local bool is_worker;

void
driver_memory_init(void)
{
    rte_rcu_qsbr_init(&driver_memory_readers.state, WORKERS_MAX);
    for (uint32_t worker = 0; worker < WORKERS_MAX; worker++)
        rte_rcu_qsbr_thread_register(&driver_memory_readers.state, worker);
}

void
driver_memory_enter(uint32_t worker)
{
    is_worker = true;
    rte_rcu_qsbr_thread_online(&driver_memory_readers.state, worker);
}

void
driver_memory_leave(uint32_t worker)
{
    rte_rcu_qsbr_thread_offline(&driver_memory_readers.state, worker);
    is_worker = false;
}

/* Sleeps between looks: the thread may be on the very CPU of the worker that it waits for. */
static void
wait_for_workers(void)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000};
    struct rte_rcu_qsbr *readers = &driver_memory_readers.state;
    const uint64_t token = rte_rcu_qsbr_start(readers);

    while (rte_rcu_qsbr_check(readers, token, false) == 0)
        nanosleep(&pause, NULL);
}

/* In the C library's place for all of the process, DPDK's shared libraries included. */
int
munmap(void *address, size_t length)
{
    if (!is_worker)
        wait_for_workers();
    return (int)syscall(SYS_munmap, address, length);
}
