/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/time/stall_ring.h"

#include <string.h>
#include <sys/mman.h>

/* Where there is little memory: stalls of a second and more at one each millisecond. */
#define STALL_RING_LEAST (UINT64_C(1) << 10)

static uint64_t
load(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_acquire);
}

/* In order with what was written before, which makes the sequence count hold. */
static void
store(_Atomic uint64_t *into, uint64_t value)
{
    atomic_store_explicit(into, value, memory_order_release);
}

static struct ring_stall *
place(const struct stall_ring *ring, uint64_t number)
{
    return &ring->stalls[number & (ring->capacity - 1)];
}

static uint64_t
capacity_for(uint64_t shortest, uint64_t reach)
{
    const uint64_t needed = reach / (shortest > 0 ? shortest : 1) + 2;
    uint64_t capacity = STALL_RING_LEAST;

    while (capacity < needed && capacity < STALL_RING_MOST)
        capacity *= 2;
    return capacity;
}

bool
stall_ring_make(struct stall_ring *ring, uint64_t shortest, uint64_t reach)
{
    memset(ring, 0, sizeof(*ring));
    for (uint64_t n = capacity_for(shortest, reach); n >= STALL_RING_LEAST; n /= 2) {
        void *memory = mmap(NULL, n * sizeof(ring->stalls[0]), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (memory == MAP_FAILED)
            continue;
        /* Clearing a huge page at its first touch would be a stall itself. */
        (void)madvise(memory, n * sizeof(ring->stalls[0]), MADV_NOHUGEPAGE);
        ring->stalls = memory;
        ring->capacity = n;
        return true;
    }
    return false;
}

void
stall_ring_free(struct stall_ring *ring)
{
    if (ring->stalls)
        munmap(ring->stalls, ring->capacity * sizeof(ring->stalls[0]));
    memset(ring, 0, sizeof(*ring));
}

void
stall_ring_note(struct stall_ring *ring, uint64_t begin, uint64_t end)
{
    const uint64_t count = load(&ring->count);

    if (ring->capacity == 0)
        return;
    const bool goes_on = load(&ring->reach) == NOT_CAUGHT_UP;
    const uint64_t burst = goes_on ? load(&place(ring, count - 1)->burst) : end;
    struct ring_stall *stall = place(ring, count);
    store(&stall->begin, begin);
    store(&stall->end, end);
    store(&stall->burst, burst);
    store(&stall->caught_up, NOT_CAUGHT_UP);
    store(&ring->count, count + 1);
    store(&ring->reach, NOT_CAUGHT_UP);
}

void
stall_ring_caught_up(struct stall_ring *ring, uint64_t at)
{
    if (load(&ring->reach) != NOT_CAUGHT_UP)
        return;
    store(&place(ring, load(&ring->count) - 1)->caught_up, at);
    store(&ring->reach, at);
}

static uint64_t
begin_of(const struct stall_ring *ring, uint64_t number)
{
    return load(&place(ring, number)->begin);
}

/*
 * The number of a stall that began at `at` or before, at least `oldest`: most frames are young,
 * so the search begins at the newest and doubles its strides. `end` becomes one that began later,
 * or the first that there is not.
 */
static uint64_t
stride_back(const struct stall_ring *ring, uint64_t oldest, uint64_t at, uint64_t *end)
{
    for (uint64_t stride = 1;; stride *= 2) {
        const uint64_t low = *end - oldest > stride ? *end - stride : oldest;

        if (low == oldest || begin_of(ring, low) <= at)
            return low;
        *end = low;
    }
}

/* Of the stalls from `low` to before `end` the last that began at `at` or before; `low` does. */
static uint64_t
halve(const struct stall_ring *ring, uint64_t low, uint64_t end, uint64_t at)
{
    while (end - low > 1) {
        const uint64_t middle = low + (end - low) / 2;

        if (begin_of(ring, middle) <= at)
            low = middle;
        else
            end = middle;
    }
    return low;
}

static struct past_stall
read_stall(const struct stall_ring *ring, uint64_t number)
{
    const struct ring_stall *stall = place(ring, number);

    return (struct past_stall){.begin = load(&stall->begin),
                               .end = load(&stall->end),
                               .burst = load(&stall->burst),
                               .caught_up = load(&stall->caught_up)};
}

/* Returns false if the loop has come round to what was read. */
static bool
search(const struct stall_ring *ring, uint64_t at, struct past_stall *found,
       enum stall_finding *finding)
{
    const uint64_t count = load(&ring->count);
    const uint64_t oldest = count < ring->capacity ? 0 : count - (ring->capacity - 1);
    uint64_t end = count;

    *finding = STALL_NONE;
    if (count == 0)
        return true;
    const uint64_t low = stride_back(ring, oldest, at, &end);
    *found = read_stall(ring, halve(ring, low, end, at));
    if (found->begin <= at)
        *finding = STALL_FOUND;
    else if (oldest > 0)
        *finding = STALL_FORGOTTEN;
    /* Stalls from `low` on were read; the loop may be at work on number `count` by now. */
    return load(&ring->count) < low + ring->capacity;
}

enum stall_finding
stall_ring_find(const struct stall_ring *ring, uint64_t at, struct past_stall *found)
{
    enum stall_finding finding;

    /* Between two stalls of the loop there is time for many searches. */
    while (!search(ring, at, found, &finding))
        ;
    return finding;
}
