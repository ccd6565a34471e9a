/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port's clock in terms of the TSC: the line through its two latest comparisons.
 *
 * A comparison is a bracket: the TSC, the port's clock, the TSC again. The port's clock
 * was read somewhere between, so half the bracket's width is all that is unknown, and of
 * several brackets the tightest counts. Two comparisons with half-widths a (older) and b,
 * d ticks apart, put a stamp that is x ticks after the latest at most b + (a + b) * x / d
 * ticks wrong, if the clocks' ratio holds: 2 b + a for a stamp one interval on.
 * port_clock_error() gives that bound. A ratio that changes by p adds p * x: crystals
 * change by some 1e-8 in a second, which is 10 ns; comparing every second keeps to that.
 * Either clock may wrap at 2^64 in between.
 *
 * The main thread writes and workers read, under a sequence lock whose fields are atomic
 * and ordered by themselves (no fences, which ThreadSanitizer does not know): a reader
 * never waits for a lock, it reads again if a comparison came in in between.
 *
 * What is proven: the arithmetic, on simulated clocks (tests/dataplane/time/test_port_clock.c).
 * Of ports it has met one alone, an emulated 82576, whose stamps it mapped to where they belong
 * (tests/integration/test_timesync_on_emulated_nics.py); how exactly, that could not show.
 */
#ifndef PLIMSOLL_PORT_CLOCK_H
#define PLIMSOLL_PORT_CLOCK_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* TSC ticks per tick of the port's clock are kept in units of 2^-40. */
#define PORT_CLOCK_RATIO_BITS 40

struct clock_bracket {
    uint64_t tsc_before;
    uint64_t stamp;
    uint64_t tsc_after;
};

/* All zero before the first comparison. */
struct port_clock {
    alignas(64) _Atomic uint32_t version; /* odd while the line is being written */
    _Atomic uint64_t stamp;               /* a point of the line: the port's clock */
    _Atomic uint64_t tsc;                 /* and the TSC */
    _Atomic uint64_t ratio;               /* its slope, << PORT_CLOCK_RATIO_BITS */
    _Atomic double error_ticks;           /* of a stamp at that point, and for each tick away */
    _Atomic double error_per_tick;
    /* The writer's own. */
    bool compared;
    struct clock_bracket latest;
};

/* The index of the bracket that leaves least unknown; count is at least 1. */
uint32_t clock_bracket_tightest(const struct clock_bracket *brackets, uint32_t count);

/*
 * Takes in a comparison; from the second on the clock can be read. Returns 0, or -ERANGE
 * for one at which either clock has not gone on since the last, or the port's clock ticks
 * 2^24 times as slowly as the TSC or slower; the line is then left as it was.
 */
int port_clock_compare(struct port_clock *clock, const struct clock_bracket *bracket);

/* The bound in TSC ticks on the error of a stamp that is so many ticks from the latest comparison.
 */
double port_clock_error(const struct port_clock *clock, uint64_t ticks_away);

/* The same of a stamp that was mapped to `tsc`, before or after that comparison. */
double port_clock_error_at(const struct port_clock *clock, uint64_t tsc);

/* The TSC at the time of `stamp`, which may lie before or after the latest comparison. */
static inline uint64_t
port_clock_to_tsc(const struct port_clock *clock, uint64_t stamp)
{
    uint64_t base_stamp, base_tsc, ratio;
    uint32_t version;

    do {
        version = atomic_load_explicit(&clock->version, memory_order_acquire);
        base_stamp = atomic_load_explicit(&clock->stamp, memory_order_acquire);
        base_tsc = atomic_load_explicit(&clock->tsc, memory_order_acquire);
        ratio = atomic_load_explicit(&clock->ratio, memory_order_acquire);
    } while (version % 2 != 0 ||
             version != atomic_load_explicit(&clock->version, memory_order_relaxed));
    const __int128 away = (__int128)(int64_t)(stamp - base_stamp) * (__int128)ratio;

    return base_tsc + (uint64_t)(int64_t)(away >> PORT_CLOCK_RATIO_BITS);
}

#endif
