/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time that the tester itself takes in addition to its polling loops: this process's main
 * thread and the processes that the driver names, by the kernel's per-process clocks.
 */
#ifndef PLIMSOLL_CPU_TIMES_H
#define PLIMSOLL_CPU_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "config/limits.h"

struct process_cpu_time {
    int32_t pid;
    bool known; /* false: there is no such process, or there was none at the begin or the end */
    uint64_t ns;
};

struct cpu_times {
    uint64_t main_thread_ns;
    uint32_t count;
    struct process_cpu_time process[PROCESSES_MAX];
};

/* To be called on the main thread, both. Between them the fields have no meaning. */
void cpu_times_begin(struct cpu_times *times, const int32_t *pids, uint32_t count);
void cpu_times_end(struct cpu_times *times);

#endif
