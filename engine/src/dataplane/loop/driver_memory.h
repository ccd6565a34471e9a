/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps memory that a driver gives back mapped until no worker can be using it.
 *
 * When a memif peer goes, the driver's interrupt thread marks the port as disconnected and
 * unmaps the rings it shared with the peer at once, though a worker may be in the midst of
 * a burst on them: it would fault, or write into what is mapped there next. So munmap() is
 * this program's own: it waits until every worker has been between two turns of its loop,
 * and thus out of the driver, since the call began (docs/decisions/008).
 */
#ifndef PLIMSOLL_DRIVER_MEMORY_H
#define PLIMSOLL_DRIVER_MEMORY_H

#include <rte_rcu_qsbr.h>
#include <stdint.h>

#include "config/limits.h"

/* The workers' reports, in the form that DPDK's RCU library keeps them. */
union driver_memory_readers {
    struct rte_rcu_qsbr state;
    uint8_t room[sizeof(struct rte_rcu_qsbr) + WORKERS_MAX * sizeof(struct rte_rcu_qsbr_cnt) +
                 __RTE_QSBR_THRID_ARRAY_SIZE(WORKERS_MAX)];
};

/* One for the process, as munmap() is. */
extern union driver_memory_readers driver_memory_readers;

/* Before the first worker is started. */
void driver_memory_init(void);

/* Before a worker's first call of a driver. `worker` is its number, below WORKERS_MAX. */
void driver_memory_enter(uint32_t worker);

/* Between two turns: the worker holds no memory of a driver. Costs a load, as a rule. */
static inline void
driver_memory_between_turns(uint32_t worker)
{
    rte_rcu_qsbr_quiescent(&driver_memory_readers.state, worker);
}

/* After a worker's last call of a driver. */
void driver_memory_leave(uint32_t worker);

#endif
