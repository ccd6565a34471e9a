/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that the delay DUT holds, the next one due first: a binary heap.
 *
 * A frame's true hold is the TSC right before the rte_eth_tx_burst() that sent it, less the
 * TSC right after the rte_eth_rx_burst() that brought it. The DUT cannot know more: the
 * frame may have lain in the port's queue since the poll before, and was in the other's
 * queue only when the sending call returned. `uncertainty` is how much longer the hold may have
 * been for that; it is long when the DUT itself was away in between.
 */
#ifndef DELAY_DUT_HELD_H
#define DELAY_DUT_HELD_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#define HELD_MAX 8192

/* What was done to a frame: bits of enum action, by 1 << action. */
typedef uint32_t actions_done;

struct held {
    struct rte_mbuf *mbuf;
    uint64_t due;   /* TSC */
    uint64_t order; /* among frames due at the same time */
    uint64_t received_at;
    uint64_t hold;        /* as it should be, ticks */
    uint64_t uncertainty; /* ticks */
    uint64_t way;         /* from the time in its signature to here, ticks */
    uint64_t sequence;
    uint16_t port; /* to be sent on */
    uint16_t stream;
    bool signed_frame; /* has a whole signature, so that it is recorded */
    actions_done done;
};

struct held_frames {
    uint32_t count;
    struct held held[HELD_MAX];
};

/* Returns 0, or -ENOSPC. */
int held_add(struct held_frames *frames, const struct held *held);

/* The next one due, or NULL. */
const struct held *held_next(const struct held_frames *frames);

/* Takes out the next one due; there must be one. */
void held_remove_next(struct held_frames *frames);

#endif
