/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/cpu_times.h"

#include <time.h>

static bool
read_clock(clockid_t clock, uint64_t *ns)
{
    struct timespec time;

    if (clock_gettime(clock, &time) != 0)
        return false;
    *ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return true;
}

static bool
read_process(int32_t pid, uint64_t *ns)
{
    clockid_t clock;

    return clock_getcpuclockid(pid, &clock) == 0 && read_clock(clock, ns);
}

void
cpu_times_begin(struct cpu_times *times, const int32_t *pids, uint32_t count)
{
    times->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct process_cpu_time *process = &times->process[i];

        *process = (struct process_cpu_time){.pid = pids[i]};
        process->known = read_process(process->pid, &process->ns);
    }
    read_clock(CLOCK_THREAD_CPUTIME_ID, &times->main_thread_ns);
}

void
cpu_times_end(struct cpu_times *times)
{
    uint64_t now = 0;

    read_clock(CLOCK_THREAD_CPUTIME_ID, &now);
    times->main_thread_ns = now - times->main_thread_ns;
    for (uint32_t i = 0; i < times->count; i++) {
        struct process_cpu_time *process = &times->process[i];

        process->known = process->known && read_process(process->pid, &now) && now >= process->ns;
        if (process->known)
            process->ns = now - process->ns;
    }
}
