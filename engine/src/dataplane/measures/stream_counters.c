/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/stream_counters.h"

#include <assert.h>
#include <string.h>

const struct stream_counter stream_counters[] = {
    {"sent", offsetof(struct stream_counters, tx.sent)},
    {"refused", offsetof(struct stream_counters, tx.refused)},
    {"skipped", offsetof(struct stream_counters, tx.skipped)},
    {"no_buffer", offsetof(struct stream_counters, tx.no_buffer)},
    {"timed_out", offsetof(struct stream_counters, tx.timed_out)},
    {"received", offsetof(struct stream_counters, rx.received)},
    {"received_bytes", offsetof(struct stream_counters, rx.received_bytes)},
    {"out_of_order", offsetof(struct stream_counters, rx.out_of_order)},
    {"duplicate", offsetof(struct stream_counters, rx.duplicate)},
    {"checked", offsetof(struct stream_counters, rx.checked)},
    {"header_checked", offsetof(struct stream_counters, rx.header_checked)},
    {"unchecked", offsetof(struct stream_counters, rx.unchecked)},
    {"low_end_unknown", offsetof(struct stream_counters, rx.low_end_unknown)},
    {"corrupt", offsetof(struct stream_counters, strays.corrupt)},
    {"misdirected", offsetof(struct stream_counters, strays.misdirected)},
};
static_assert(sizeof(stream_counters) / sizeof(stream_counters[0]) == STREAM_COUNTERS,
              "each counter has a name");

uint64_t
stream_counter_value(const struct stream_counters *counters, const struct stream_counter *counter)
{
    uint64_t value;

    memcpy(&value, (const char *)counters + counter->offset, sizeof(value));
    return value;
}

/* Structs of `bytes` that hold nothing but counters. */
static void
add(void *into, const void *from, size_t bytes)
{
    const uint64_t *counts = from;
    uint64_t *sums = into;

    for (size_t i = 0; i < bytes / sizeof(*sums); i++)
        sums[i] += counts[i];
}

void
rx_counters_add(struct rx_counters *into, const struct rx_counters *from)
{
    add(into, from, sizeof(*into));
}

void
stray_counters_add(struct stray_counters *into, const struct stray_counters *from)
{
    add(into, from, sizeof(*into));
}

void
stream_counters_add(struct stream_counters *into, const struct stream_counters *from)
{
    add(into, from, sizeof(*into));
}
