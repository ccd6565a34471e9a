/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last stalls of a polling loop that sends, for those who receive what it sent: which of
 * them kept a frame between its stamp and its hand-over to the port, and which frames were
 * overdue when the loop came back and left in a burst. Times are TSC.
 *
 * The loop alone writes; any thread reads without waiting. `count` is the sequence count: a
 * stall goes into the place of the one `capacity` before it, so a reader who finds that the
 * count has come that far takes what it read there for forgotten.
 */
#ifndef PLIMSOLL_STALL_RING_H
#define PLIMSOLL_STALL_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Until the loop has caught up it is not known which frame is the last overdue one. */
#define NOT_CAUGHT_UP UINT64_MAX

struct ring_stall {
    _Atomic uint64_t begin;
    _Atomic uint64_t end;
    _Atomic uint64_t burst;     /* overdue frames are stamped from here on: see stall_ring_note() */
    _Atomic uint64_t caught_up; /* and before this */
};

struct stall_ring {
    /* Frames stamped from then on were touched by no stall that is known. */
    alignas(64) _Atomic uint64_t reach;
    _Atomic uint64_t count;    /* stalls noted, ever */
    uint64_t capacity;         /* a power of two, or 0: it keeps none */
    struct ring_stall *stalls; /* the newest `capacity` - 1 of which can be read */
};

/* A stall as it was read. */
struct past_stall {
    uint64_t begin, end, burst, caught_up;
};

enum stall_finding {
    STALL_NONE,      /* no stall began before that time */
    STALL_FOUND,     /* the last that did */
    STALL_FORGOTTEN, /* it has been overwritten */
};

/*
 * Room for every stall of at least `shortest` ticks that can begin within `reach` ticks, as far
 * as STALL_RING_MOST goes. The memory is taken up as stalls come. Returns false without any.
 */
bool stall_ring_make(struct stall_ring *ring, uint64_t shortest, uint64_t reach);

/* 2^23 stalls of 32 bytes: every one of 16.4 us and more in the histograms' 137 s. */
#define STALL_RING_MOST (UINT64_C(1) << 23)

void stall_ring_free(struct stall_ring *ring);

/*
 * The loop was away from `begin` to `end`. What became due in that time is overdue, and sent
 * in a burst from then on. Where the loop had not caught up after an earlier stall, that one's
 * burst goes on.
 */
void stall_ring_note(struct stall_ring *ring, uint64_t begin, uint64_t end);

/* Frames stamped from `at` on are not overdue. Nothing happens if none were. */
void stall_ring_caught_up(struct stall_ring *ring, uint64_t at);

/* Looks for the last stall that began at `at` or before. */
enum stall_finding stall_ring_find(const struct stall_ring *ring, uint64_t at,
                                   struct past_stall *found);

#endif
