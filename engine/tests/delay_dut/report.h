/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the delay DUT did since it began to behave as configured, as one JSON object:
 * counters of ports and paths, how often each wrong was done, and under "sent" a column
 * for each property of the engine's frames in the order in which they left. "done" has bit
 * i set for the i-th of "actions"; "way" is from the time in the signature to here. Times are in
 * ticks of the TSC, "tsc_hz" is its rate (tsc_rate.h).
 */
#ifndef DELAY_DUT_REPORT_H
#define DELAY_DUT_REPORT_H

#include <jansson.h>

#include "dut.h"

/* NULL when there is no memory for it. The loop must not run. */
json_t *report(const struct dut *dut);

#endif
