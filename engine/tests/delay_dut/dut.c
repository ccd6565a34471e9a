/* SPDX-License-Identifier: Apache-2.0 */
#include "dut.h"

#include <math.h>
#include <rte_mbuf.h>
#include <string.h>

/* Rounded up, so that no frame is held for less than was requested. */
static uint64_t
ticks(const struct dut *dut, uint64_t ns)
{
    return (uint64_t)ceil((double)ns / 1e9 * dut->tsc_hz);
}

static void
free_frames(struct path *path)
{
    while (path->held.count > 0) {
        rte_pktmbuf_free(held_next(&path->held)->mbuf);
        held_remove_next(&path->held);
    }
    while (path->aside_count > 0)
        rte_pktmbuf_free(path->asides[--path->aside_count].held.mbuf);
}

static void
begin_path(const struct dut *dut, struct path *path, struct path_behaviour *behaviour,
           uint64_t seed)
{
    memset(path, 0, sizeof(*path));
    path->behaviour = behaviour;
    path->least_hold = ticks(dut, behaviour->least_hold_ns);
    path->hold_range = ticks(dut, behaviour->most_hold_ns) - path->least_hold;
    path->withhold_late = behaviour->withhold_late_ns == UINT64_MAX
                              ? UINT64_MAX
                              : ticks(dut, behaviour->withhold_late_ns);
    path->random = seed;
}

void
dut_begin(struct dut *dut)
{
    for (uint32_t i = 0; i < PATHS_MAX; i++)
        free_frames(&dut->paths[i]);
    for (uint32_t i = 0; i < dut->behaviour.path_count; i++)
        begin_path(dut, &dut->paths[i], &dut->behaviour.paths[i], dut->behaviour.seed + i);
    memset(dut->received, 0, sizeof(dut->received));
    memset(dut->sent, 0, sizeof(dut->sent));
    dut->polls = dut->longest_turn = dut->record_count = dut->unrecorded = 0;
}
