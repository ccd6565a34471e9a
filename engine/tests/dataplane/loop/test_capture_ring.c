/* SPDX-License-Identifier: Apache-2.0 */
/* Frames leave the ring as they were put in, whole and in order, wherever its memory ends. */
#include "dataplane/loop/capture_ring.h"

#include <string.h>

#include "config/limits.h"
#include "seeded_random.h"
#include "unit_test.h"

#define WHOLE RECEIVED_MAX_BYTES
#define HEADER sizeof(struct captured_frame)

static _Atomic uint32_t on = CAPTURE_ON;

static bool
put(struct capture_ring *ring, uint64_t number, uint32_t length)
{
    const uint32_t kept = length < ring->snap_bytes ? length : ring->snap_bytes;
    uint8_t *copy = capture_ring_put(ring, number, length, kept);

    if (copy)
        memset(copy, (int)(number & 0xff), kept);
    capture_ring_publish(ring);
    return copy != NULL;
}

/* Takes the oldest frame, which is to be this one. */
static void
assert_taken(struct capture_ring *ring, uint64_t number, uint32_t length, uint32_t kept)
{
    const struct captured_frame *frame;

    capture_ring_look(ring);
    frame = capture_ring_oldest(ring);
    assert_non_null(frame);
    assert_int_equal(frame->tsc, number);
    assert_int_equal(frame->length, length);
    assert_int_equal(frame->kept, kept);
    for (uint32_t i = 0; i < kept; i++)
        assert_int_equal(frame->bytes[i], number & 0xff);
    capture_ring_drop(ring, frame);
}

static void
frames_of_all_lengths_leave_as_they_came(void **state)
{
    struct capture_ring *ring = capture_ring_make(&on, WHOLE, 1);
    uint32_t lengths[64];
    uint64_t seed = 7, put_in = 0, taken = 0;

    (void)state;
    assert_non_null(ring);
    assert_int_equal(ring->size, CAPTURE_RING_LEAST);
    while (taken < 20000) {
        const uint32_t length = (uint32_t)random_below(&seed, WHOLE + 1);

        if (put_in - taken < 64 && put(ring, put_in, length)) {
            lengths[put_in++ % 64] = length;
            continue;
        }
        for (uint64_t n = 1 + random_below(&seed, put_in - taken); n > 0; n--, taken++)
            assert_taken(ring, taken, lengths[taken % 64], lengths[taken % 64]);
    }
    capture_ring_free(ring);
}

static void
a_full_ring_leaves_frames_out_and_counts_them(void **state)
{
    struct capture_ring *ring = capture_ring_make(&on, 64, 1);
    const uint32_t room = CAPTURE_RING_LEAST / (64 + HEADER);
    uint32_t put_in = 0;

    (void)state;
    assert_non_null(ring);
    while (put(ring, put_in, 64))
        put_in++;
    /* The last one may not fit before the memory's end, nor is there room at its begin. */
    assert_uint_in_range(put_in, room - 1, room);
    assert_false(put(ring, 0, 1000));
    assert_int_equal(ring->left_out, 2);
    assert_taken(ring, 0, 64, 64);
    capture_ring_look(ring);
    assert_taken(ring, 1, 64, 64);
    assert_true(put(ring, put_in, 64));
    for (uint32_t i = 2; i <= put_in; i++)
        assert_taken(ring, i, 64, 64);
    capture_ring_look(ring);
    assert_null(capture_ring_oldest(ring));
    capture_ring_leave_out(ring, 5);
    assert_int_equal(ring->left_out, 7);
    capture_ring_free(ring);
}

static void
what_is_not_published_or_not_looked_at_is_not_seen(void **state)
{
    struct capture_ring *ring = capture_ring_make(&on, 64, 10);

    (void)state;
    assert_non_null(ring);
    assert_non_null(capture_ring_put(ring, 1, 60, 60));
    capture_ring_look(ring);
    assert_null(capture_ring_oldest(ring));
    capture_ring_publish(ring);
    assert_null(capture_ring_oldest(ring));
    capture_ring_look(ring);
    assert_non_null(capture_ring_oldest(ring));
    capture_ring_free(ring);
}

static void
a_frame_of_no_bytes_is_one(void **state)
{
    struct capture_ring *ring = capture_ring_make(&on, 1, 1);

    (void)state;
    assert_non_null(ring);
    assert_true(put(ring, 3, 0));
    assert_true(put(ring, 4, 9214));
    assert_taken(ring, 3, 0, 0);
    assert_taken(ring, 4, 9214, 1);
    capture_ring_free(ring);
}

static void
memory_is_for_the_frames_within_bounds(void **state)
{
    struct {
        uint32_t snap_bytes;
        uint64_t most_frames;
        uint32_t size;
    } cases[] = {
        {WHOLE, 1, CAPTURE_RING_LEAST},    {64, 819, CAPTURE_RING_LEAST},
        {64, 820, 2 * CAPTURE_RING_LEAST}, {64, CAPTURE_FRAMES_MAX, CAPTURE_RING_MOST},
        {1, 2048, CAPTURE_RING_LEAST},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct capture_ring *ring =
            capture_ring_make(&on, cases[i].snap_bytes, cases[i].most_frames);

        assert_non_null(ring);
        assert_int_equal(ring->size, cases[i].size);
        capture_ring_free(ring);
    }
    capture_ring_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_all_lengths_leave_as_they_came),
        cmocka_unit_test(a_full_ring_leaves_frames_out_and_counts_them),
        cmocka_unit_test(what_is_not_published_or_not_looked_at_is_not_seen),
        cmocka_unit_test(a_frame_of_no_bytes_is_one),
        cmocka_unit_test(memory_is_for_the_frames_within_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
