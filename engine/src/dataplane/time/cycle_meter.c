/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/time/cycle_meter.h"

const char *const step_names[STEPS] = {
    [STEP_BUILD] = "build",
    [STEP_SEND] = "send",
    [STEP_POLL] = "poll",
    [STEP_MEASURE] = "measure",
};

void
cycle_meter_add(struct cycle_meter *into, const struct cycle_meter *from)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        into->ticks[step] += from->ticks[step];
        into->frames[step] += from->frames[step];
    }
}
