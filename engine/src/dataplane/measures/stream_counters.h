/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is counted of a stream's frames, by who sends them, by each queue that they come in
 * on, and by whichever worker meets one that is damaged or astray.
 *
 * A new counter is a field here and its name in stream_counters.c: pages, sums and messages
 * take it from there. docs/engine-protocol.md says what each of them means.
 */
#ifndef PLIMSOLL_STREAM_COUNTERS_H
#define PLIMSOLL_STREAM_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

struct tx_counters {
    uint64_t sent;
    uint64_t refused;
    uint64_t skipped;
    uint64_t no_buffer;
    uint64_t timed_out;
};

struct rx_counters {
    uint64_t received;
    uint64_t received_bytes; /* of those frames, with FCS */
    uint64_t out_of_order;
    uint64_t duplicate;
    uint64_t checked;         /* frames whose checksums cover them, and are right */
    uint64_t header_checked;  /* only an IPv4 header's checksum was there */
    uint64_t unchecked;       /* less was there than all of the stream's frames have */
    uint64_t low_end_unknown; /* the stalls of the time when it was sent are forgotten */
};

/* Frames whose stream's own queue must not be the one that counts them. */
struct stray_counters {
    uint64_t corrupt;
    uint64_t misdirected;
};

/* All of a stream: nothing but counters, each of 64 bits. */
struct stream_counters {
    struct tx_counters tx;
    struct rx_counters rx;
    struct stray_counters strays;
};

#define STREAM_COUNTERS (sizeof(struct stream_counters) / sizeof(uint64_t))

struct stream_counter {
    const char *name; /* as the protocol has it */
    size_t offset;    /* in struct stream_counters */
};

/* Each counter once. */
extern const struct stream_counter stream_counters[STREAM_COUNTERS];

uint64_t stream_counter_value(const struct stream_counters *counters,
                              const struct stream_counter *counter);

void rx_counters_add(struct rx_counters *into, const struct rx_counters *from);
void stray_counters_add(struct stray_counters *into, const struct stray_counters *from);
void stream_counters_add(struct stream_counters *into, const struct stream_counters *from);

#endif
