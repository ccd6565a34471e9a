/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured frames of one receive queue, on their way from the worker that polls it to the main
 * thread that writes them to a file: each writes one number, and neither waits for the other.
 *
 * Frames lie one behind the other, as long as they are, each in one piece: one that would reach
 * beyond the end of the memory begins at its begin again.
 */
#ifndef PLIMSOLL_CAPTURE_RING_H
#define PLIMSOLL_CAPTURE_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of x86-64 and most of aarch64. */
#define CAPTURE_LINE_BYTES 64

/* Memory of a ring: the least holds three of the longest frames, the most 100,000 of 64 bytes. */
#define CAPTURE_RING_LEAST (UINT32_C(1) << 16)
#define CAPTURE_RING_MOST (UINT32_C(1) << 23)

/* What the worker is to do with a port's frames; the main thread alone changes it. */
enum capture_state {
    CAPTURE_OFF,
    CAPTURE_ON,
    CAPTURE_FULL /* the file takes no more: they are counted */
};

struct captured_frame {
    uint64_t tsc;    /* when it came */
    uint32_t length; /* of the frame as it came, in bytes */
    uint32_t kept;   /* of them, in `bytes` */
    uint8_t bytes[];
};

struct capture_ring {
    alignas(CAPTURE_LINE_BYTES) _Atomic uint64_t written; /* bytes, since the begin */
    _Atomic uint64_t left_out;                            /* frames for which there was no room */
    uint64_t put; /* bytes, as `written`, with frames that are not published yet */
    alignas(CAPTURE_LINE_BYTES) _Atomic uint64_t taken; /* bytes, since the begin */
    uint64_t seen;                                      /* of `written`, by the main thread */
    alignas(CAPTURE_LINE_BYTES) const _Atomic uint32_t *state; /* of the port */
    uint32_t snap_bytes;
    uint32_t size; /* a power of two */
    uint8_t *memory;
};

/*
 * A ring for frames of which `snap_bytes` are kept (to RECEIVED_MAX_BYTES), with room for
 * `most_frames` of them where that is within the bounds above. All of it is written, so that no
 * page is first touched while a worker polls. NULL without memory.
 */
struct capture_ring *capture_ring_make(const _Atomic uint32_t *state, uint32_t snap_bytes,
                                       uint64_t most_frames);

void capture_ring_free(struct capture_ring *ring);

/*
 * For the worker: a frame of `length` bytes, of which the first `kept` (up to snap_bytes) are then
 * to be written to what this returns. NULL where there is no room, which is counted.
 */
uint8_t *capture_ring_put(struct capture_ring *ring, uint64_t tsc, uint32_t length, uint32_t kept);

/* For the worker: what was put is complete. */
void capture_ring_publish(struct capture_ring *ring);

/* For the worker: frames that the file has no room for. */
void capture_ring_leave_out(struct capture_ring *ring, uint32_t frames);

/*
 * For the main thread: looks which frames are there. Those that come later are seen next time, so
 * that a worker that is faster does not hold it up.
 */
void capture_ring_look(struct capture_ring *ring);

/* For the main thread: the oldest frame seen, which stays until it is dropped; NULL for none. */
const struct captured_frame *capture_ring_oldest(struct capture_ring *ring);

/* For the main thread: makes room of what capture_ring_oldest() returned last. */
void capture_ring_drop(struct capture_ring *ring, const struct captured_frame *frame);

#endif
