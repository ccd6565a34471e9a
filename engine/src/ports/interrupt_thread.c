/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/interrupt_thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include <rte_alarm.h>

/*
 * The thread handles in one go whatever has become ready, in any order. What was pending before
 * the second alarm was set has been handled when that one is, or together with the first.
 */
#define ALARMS 2
#define PAUSE_US 50
#define PATIENCE_S 1.0

static void
on_alarm(void *handled)
{
    atomic_store((atomic_bool *)handled, true);
}

static bool
alarm_is_handled(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_US * 1000};
    static atomic_bool handled;

    atomic_store(&handled, false);
    if (rte_eal_alarm_set(1, on_alarm, &handled) != 0)
        return false;
    for (double waited_s = 0; !atomic_load(&handled); waited_s += PAUSE_US / 1e6) {
        if (waited_s > PATIENCE_S) {
            rte_eal_alarm_cancel(on_alarm, &handled);
            return false;
        }
        nanosleep(&pause, NULL);
    }
    return true;
}

void
interrupt_thread_settle(void)
{
    for (int i = 0; i < ALARMS && alarm_is_handled(); i++)
        ;
}
