/* SPDX-License-Identifier: Apache-2.0 */
/* The exact times in the protocol's messages: latencies, loss events, clocks. */
#ifndef PLIMSOLL_MESSAGE_TIMES_H
#define PLIMSOLL_MESSAGE_TIMES_H

#include <jansson.h>

#include "trial/trial.h"

/* How much of a stream's lists a message holds. */
struct list_lengths {
    uint32_t worst;  /* latencies that need not be spikes */
    uint32_t spikes; /* latencies in all */
    uint32_t losses;
};

/* Adds a stream's worst latencies and loss events to its counts. */
void message_times_add(json_t *stream, const struct stream_counts *counts,
                       const struct list_lengths *lengths);

/* Adds what came of the probes of a stream that its ports stamp, with the largest error. */
void message_stamps_add(json_t *stream, const struct run *run, const struct stream_counts *counts);

json_t *message_clock(const struct trial *trial);

#endif
