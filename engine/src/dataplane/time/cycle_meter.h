/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a polling loop's time goes: TSC ticks of its steps, by frame. One turn in
 * sixteen is metered, so that reading the clock costs next to nothing.
 */
#ifndef PLIMSOLL_CYCLE_METER_H
#define PLIMSOLL_CYCLE_METER_H

#include <stdint.h>

#define METERED_TURNS 16

enum step { STEP_BUILD, STEP_SEND, STEP_POLL, STEP_MEASURE, STEPS };

/* As the protocol names them. */
extern const char *const step_names[STEPS];

struct cycle_meter {
    uint64_t ticks[STEPS];
    uint64_t frames[STEPS];
};

/* A turn in which the loop was away says nothing of the step: `longest` ticks at most. */
static inline void
cycle_meter_record(struct cycle_meter *meter, enum step step, uint64_t ticks, uint32_t frames,
                   uint64_t longest)
{
    if (ticks >= longest)
        return;
    meter->ticks[step] += ticks;
    meter->frames[step] += frames;
}

void cycle_meter_add(struct cycle_meter *into, const struct cycle_meter *from);

#endif
