/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of the tester's hosts to what their neighbours ask, while a trial runs.
 *
 * Who receives a request need not be who sends on its port, and a port that is full now may
 * have room a turn later. So an answer goes into the box of the queue that the request came
 * in on, and the one worker that sends on the port's first queue takes it from there between
 * two of its turns. Frames of a trial come near none of this.
 */
#ifndef PLIMSOLL_ANSWERING_H
#define PLIMSOLL_ANSWERING_H

#include "dataplane/loop/run.h"

struct rte_mbuf;

/* More answers than that are dropped: a request is repeated. */
#define POST_LETTERS 16

/* Answers of a queue come no faster, whatever comes in: 64 at once, and 1000 in a second. */
#define ANSWERS_AT_ONCE 64
#define ANSWERS_PER_SECOND 1000

struct letter {
    uint32_t bytes;
    uint8_t frame[HOST_FRAME_MAX];
};

/* From the worker that receives on a queue to the one that sends: each writes one number. */
struct tx_mailbox {
    alignas(RTE_CACHE_LINE_SIZE) _Atomic uint32_t written;
    uint64_t next_at; /* TSC at which all that was answered is within the rate */
    alignas(RTE_CACHE_LINE_SIZE) _Atomic uint32_t sent;
    uint16_t port;
    uint16_t dpdk_port;
    struct rte_mempool *pool;
    struct letter letters[POST_LETTERS];
};

/*
 * For the worker that receives on `queue`, of which the port has a host: takes the frame if it is
 * for that, counts it, and has the answer sent. False for any other frame.
 */
bool answering_take(struct worker *worker, const struct rx_queue *queue,
                    const struct rte_mbuf *mbuf);

/* For a worker with has_post: sends what there is room for. */
void answering_send(struct worker *worker);

/* What a frame is to a host, and counts it in `counters`; HOST_NOTHING for what is foreign. */
struct host_frame answering_read(const struct host *host, uint16_t port,
                                 struct neighbours *neighbours, const struct rte_mbuf *mbuf,
                                 uint8_t *answer, uint64_t *counters);

/* Sends one frame on the first queue of a port; false where there is no room. */
bool answering_transmit(uint16_t dpdk_port, struct rte_mempool *pool, const uint8_t *frame,
                        uint32_t bytes);

#endif
