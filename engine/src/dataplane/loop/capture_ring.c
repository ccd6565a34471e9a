/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/capture_ring.h"

#include <stdlib.h>
#include <string.h>

/* In place of `kept`: the memory's end comes before the next frame. */
#define SKIP UINT32_MAX

/* Frames begin at multiples of it, so that there is always room for one that skips. */
#define ALIGNMENT sizeof(struct captured_frame)

static uint32_t
bytes_of(uint32_t kept)
{
    const uint32_t bytes = (uint32_t)sizeof(struct captured_frame) + kept;

    return (bytes + (uint32_t)ALIGNMENT - 1) & ~((uint32_t)ALIGNMENT - 1);
}

static struct captured_frame *
frame_at(const struct capture_ring *ring, uint64_t position)
{
    return (struct captured_frame *)(void *)(ring->memory + (position & (ring->size - 1)));
}

/* What is left to the memory's end from `position` on. */
static uint32_t
bytes_to_end(const struct capture_ring *ring, uint64_t position)
{
    return ring->size - (uint32_t)(position & (ring->size - 1));
}

static uint32_t
size_for(uint32_t snap_bytes, uint64_t most_frames)
{
    uint32_t size = CAPTURE_RING_LEAST;

    while (size < CAPTURE_RING_MOST && size / bytes_of(snap_bytes) < most_frames)
        size *= 2;
    return size;
}

struct capture_ring *
capture_ring_make(const _Atomic uint32_t *state, uint32_t snap_bytes, uint64_t most_frames)
{
    struct capture_ring *ring = aligned_alloc(CAPTURE_LINE_BYTES, sizeof(*ring));

    if (!ring)
        return NULL;
    memset(ring, 0, sizeof(*ring));
    ring->state = state;
    ring->snap_bytes = snap_bytes;
    ring->size = size_for(snap_bytes, most_frames);
    ring->memory = aligned_alloc(CAPTURE_LINE_BYTES, ring->size);
    if (!ring->memory) {
        capture_ring_free(ring);
        return NULL;
    }
    memset(ring->memory, 0, ring->size);
    return ring;
}

void
capture_ring_free(struct capture_ring *ring)
{
    if (!ring)
        return;
    free(ring->memory);
    free(ring);
}

uint8_t *
capture_ring_put(struct capture_ring *ring, uint64_t tsc, uint32_t length, uint32_t kept)
{
    const uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_acquire);
    const uint32_t bytes = bytes_of(kept), to_end = bytes_to_end(ring, ring->put);
    const uint32_t skipped = bytes > to_end ? to_end : 0;
    struct captured_frame *frame;

    if (ring->put + skipped + bytes - taken > ring->size) {
        capture_ring_leave_out(ring, 1);
        return NULL;
    }
    if (skipped > 0)
        frame_at(ring, ring->put)->kept = SKIP;
    frame = frame_at(ring, ring->put + skipped);
    frame->tsc = tsc;
    frame->length = length;
    frame->kept = kept;
    ring->put += skipped + bytes;
    return frame->bytes;
}

void
capture_ring_publish(struct capture_ring *ring)
{
    atomic_store_explicit(&ring->written, ring->put, memory_order_release);
}

void
capture_ring_leave_out(struct capture_ring *ring, uint32_t frames)
{
    const uint64_t before = atomic_load_explicit(&ring->left_out, memory_order_relaxed);

    atomic_store_explicit(&ring->left_out, before + frames, memory_order_relaxed);
}

void
capture_ring_look(struct capture_ring *ring)
{
    ring->seen = atomic_load_explicit(&ring->written, memory_order_acquire);
}

const struct captured_frame *
capture_ring_oldest(struct capture_ring *ring)
{
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    const struct captured_frame *frame = frame_at(ring, taken);

    if (taken == ring->seen)
        return NULL;
    if (frame->kept != SKIP)
        return frame;
    taken += bytes_to_end(ring, taken);
    atomic_store_explicit(&ring->taken, taken, memory_order_release);
    return frame_at(ring, taken);
}

void
capture_ring_drop(struct capture_ring *ring, const struct captured_frame *frame)
{
    const uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);

    atomic_store_explicit(&ring->taken, taken + bytes_of(frame->kept), memory_order_release);
}
