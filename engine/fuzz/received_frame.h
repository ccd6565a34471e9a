/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as a driver hands them up, made from the fuzzer's input. */
#ifndef PLIMSOLL_RECEIVED_FRAME_H
#define PLIMSOLL_RECEIVED_FRAME_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_BYTES_MAX 9216
/* Where a frame's stamp is, and in ol_flags that it has one: in DPDK, dynamic fields. */
#define STAMP_OFFSET RTE_ALIGN(offsetof(struct rte_mbuf, dynfield1), sizeof(uint64_t))
#define STAMP_FLAG 1

/* The fuzzer's input, taken from the front; at its end there are zeros. */
struct input {
    const uint8_t *at;
    size_t left;
};

uint32_t input_number(struct input *input, uint32_t bytes);

struct received_frame {
    uint32_t length;
    uint8_t bytes[FRAME_BYTES_MAX];
    struct rte_mbuf *mbuf;
};

/*
 * Makes the next frame: any bytes, maybe with a signature put in where a DUT may leave
 * one, in one segment or several, each in memory of exactly its size.
 */
void received_frame_make(struct received_frame *frame, struct input *input);

void received_frame_free(struct received_frame *frame);

#endif
