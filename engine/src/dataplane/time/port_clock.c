/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/time/port_clock.h"

#include <errno.h>

static uint64_t
width(const struct clock_bracket *bracket)
{
    return bracket->tsc_after - bracket->tsc_before;
}

static uint64_t
middle(const struct clock_bracket *bracket)
{
    return bracket->tsc_before + width(bracket) / 2;
}

uint32_t
clock_bracket_tightest(const struct clock_bracket *brackets, uint32_t count)
{
    uint32_t tightest = 0;

    for (uint32_t i = 1; i < count; i++) {
        if (width(&brackets[i]) < width(&brackets[tightest]))
            tightest = i;
    }
    return tightest;
}

static void
publish(struct port_clock *clock, const struct clock_bracket *point, uint64_t ratio)
{
    const uint32_t version = atomic_load_explicit(&clock->version, memory_order_relaxed);

    atomic_store_explicit(&clock->version, version + 1, memory_order_relaxed);
    atomic_store_explicit(&clock->stamp, point->stamp, memory_order_release);
    atomic_store_explicit(&clock->tsc, middle(point), memory_order_release);
    atomic_store_explicit(&clock->ratio, ratio, memory_order_release);
    atomic_store_explicit(&clock->version, version + 2, memory_order_release);
}

int
port_clock_compare(struct port_clock *clock, const struct clock_bracket *bracket)
{
    const struct clock_bracket before = clock->latest;
    const uint64_t stamps = bracket->stamp - before.stamp;
    const uint64_t ticks = middle(bracket) - middle(&before);

    if (!clock->compared) {
        clock->compared = true;
        clock->latest = *bracket;
        return 0;
    }
    /* What went backwards shows as more than half the range. */
    if (stamps == 0 || ticks == 0 || stamps > INT64_MAX || ticks > INT64_MAX)
        return -ERANGE;
    const unsigned __int128 ratio =
        (((unsigned __int128)ticks << PORT_CLOCK_RATIO_BITS) + stamps / 2) / stamps;
    if (ratio >> (PORT_CLOCK_RATIO_BITS + 24) != 0)
        return -ERANGE;
    /* Half a tick more for each end: neither clock shows fractions. */
    const double older = (double)width(&before) / 2 + (double)ticks / (double)stamps + 1;
    const double newer = (double)width(bracket) / 2 + (double)ticks / (double)stamps + 1;

    /* A reader may see these a comparison early or late: a bound of the line next to its own. */
    atomic_store_explicit(&clock->error_ticks, newer, memory_order_relaxed);
    atomic_store_explicit(&clock->error_per_tick, (older + newer) / (double)ticks,
                          memory_order_relaxed);
    publish(clock, bracket, (uint64_t)ratio);
    clock->latest = *bracket;
    return 0;
}

double
port_clock_error(const struct port_clock *clock, uint64_t ticks_away)
{
    return atomic_load_explicit(&clock->error_ticks, memory_order_relaxed) +
           atomic_load_explicit(&clock->error_per_tick, memory_order_relaxed) * (double)ticks_away;
}

double
port_clock_error_at(const struct port_clock *clock, uint64_t tsc)
{
    const int64_t away = (int64_t)(tsc - atomic_load_explicit(&clock->tsc, memory_order_relaxed));

    return port_clock_error(clock, (uint64_t)(away < 0 ? -away : away));
}
