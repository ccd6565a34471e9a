/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's signature as a DUT sees it that was written from docs/engine-protocol.md
 * alone: byte by byte, sharing no code with the engine, so that a mistake in the engine's
 * own reading cannot hide here.
 */
#ifndef DELAY_DUT_SIGNED_FRAME_H
#define DELAY_DUT_SIGNED_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct frame_identity {
    uint16_t stream;
    uint64_t sequence;
    uint64_t time; /* TSC, its low 48 bits */
};

#define SIGNED_TIME_MAX ((UINT64_C(1) << 48) - 1)

/* Whether the frame ends with a whole signature; then also whose. */
bool signed_frame_read(const uint8_t *frame, uint32_t length, struct frame_identity *identity);

/* Puts another mark into a frame with a whole signature, and keeps it whole. */
void signed_frame_remark(uint8_t *frame, uint32_t length, uint16_t mark);

#endif
