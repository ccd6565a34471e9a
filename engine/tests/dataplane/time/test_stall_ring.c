/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/time/stall_ring.h"

#include "seeded_random.h"
#include "unit_test.h"

#define PLACES 8

static struct ring_stall places[PLACES];

static struct stall_ring
small_ring(void)
{
    return (struct stall_ring){.capacity = PLACES, .stalls = places};
}

static void
an_empty_ring_has_none(void **state)
{
    struct stall_ring ring = small_ring(), without = {0};
    struct past_stall found;

    (void)state;
    assert_int_equal(stall_ring_find(&ring, 100, &found), STALL_NONE);
    /* Of a loop that sends nothing none is kept. */
    stall_ring_note(&without, 10, 20);
    stall_ring_caught_up(&without, 30);
    assert_int_equal(stall_ring_find(&without, 100, &found), STALL_NONE);
    assert_int_equal(without.reach, 0);
}

static void
the_last_stall_that_had_begun_is_found(void **state)
{
    struct stall_ring ring = small_ring();
    struct past_stall found;

    (void)state;
    stall_ring_note(&ring, 100, 150);
    stall_ring_caught_up(&ring, 155);
    stall_ring_note(&ring, 200, 300);
    assert_int_equal(stall_ring_find(&ring, 99, &found), STALL_NONE);
    assert_int_equal(stall_ring_find(&ring, 100, &found), STALL_FOUND);
    assert_true(found.begin == 100 && found.end == 150);
    assert_true(found.burst == 150 && found.caught_up == 155);
    assert_int_equal(stall_ring_find(&ring, 199, &found), STALL_FOUND);
    assert_int_equal(found.begin, 100);
    assert_int_equal(stall_ring_find(&ring, 5000, &found), STALL_FOUND);
    assert_true(found.begin == 200 && found.caught_up == NOT_CAUGHT_UP);
}

static void
frames_are_out_of_reach_once_the_loop_has_caught_up(void **state)
{
    struct stall_ring ring = small_ring();

    (void)state;
    stall_ring_note(&ring, 100, 150);
    assert_true(ring.reach == NOT_CAUGHT_UP);
    stall_ring_caught_up(&ring, 180);
    assert_int_equal(ring.reach, 180);
    /* There is nothing more to catch up on. */
    stall_ring_caught_up(&ring, 500);
    assert_int_equal(ring.reach, 180);
}

static void
a_burst_that_a_stall_breaks_off_goes_on_after_it(void **state)
{
    struct stall_ring ring = small_ring();
    struct past_stall found;

    (void)state;
    stall_ring_note(&ring, 100, 150);
    stall_ring_note(&ring, 160, 190);
    stall_ring_caught_up(&ring, 200);
    assert_int_equal(stall_ring_find(&ring, 155, &found), STALL_FOUND);
    assert_true(found.burst == 150 && found.caught_up == NOT_CAUGHT_UP);
    assert_int_equal(stall_ring_find(&ring, 195, &found), STALL_FOUND);
    assert_true(found.burst == 150 && found.caught_up == 200);
    stall_ring_note(&ring, 300, 350);
    assert_int_equal(stall_ring_find(&ring, 355, &found), STALL_FOUND);
    assert_int_equal(found.burst, 350);
}

static void
what_was_overwritten_is_forgotten_and_not_denied(void **state)
{
    struct stall_ring ring = small_ring();
    struct past_stall found;

    (void)state;
    for (uint64_t i = 1; i <= 100; i++) {
        const uint64_t oldest = i < PLACES ? 1 : i - (PLACES - 2);

        stall_ring_note(&ring, 10 * i, 10 * i + 5);
        for (uint64_t at = 0; at < 10 * (i + 2); at++) {
            const enum stall_finding finding = stall_ring_find(&ring, at, &found);

            if (at < 10 * oldest) {
                assert_int_equal(finding, i < PLACES ? STALL_NONE : STALL_FORGOTTEN);
                continue;
            }
            assert_int_equal(finding, STALL_FOUND);
            assert_int_equal(found.begin, at / 10 > i ? 10 * i : at / 10 * 10);
            assert_int_equal(found.end, found.begin + 5);
        }
    }
}

/* Room for each stall of 20 us in 137 s at 3 GHz, of which only what is used is taken up. */
static void
a_ring_holds_all_that_can_begin_in_its_reach(void **state)
{
    const uint64_t shortest = 60000, reach = UINT64_C(137438953471) * 3;
    struct stall_ring ring;
    struct past_stall found;

    (void)state;
    assert_true(stall_ring_make(&ring, shortest, reach));
    assert_true(ring.capacity - 1 >= reach / shortest + 1);
    assert_true((ring.capacity & (ring.capacity - 1)) == 0);
    for (uint64_t i = 0; i < 5000; i++)
        stall_ring_note(&ring, i * shortest, (i + 1) * shortest);
    assert_int_equal(stall_ring_find(&ring, 0, &found), STALL_FOUND);
    assert_int_equal(found.end, shortest);
    stall_ring_free(&ring);
    assert_int_equal(ring.capacity, 0);
    /* Of shorter ones it forgets the oldest. */
    assert_true(stall_ring_make(&ring, 1, reach));
    assert_int_equal(ring.capacity, STALL_RING_MOST);
    stall_ring_free(&ring);
}

/* Against a look at each one. */
static void
any_time_is_found_as_a_look_at_each_stall_finds_it(void **state)
{
    static uint64_t begins[3000];
    struct stall_ring ring;
    struct past_stall found;
    uint64_t seed = 7, now = 0;

    (void)state;
    assert_true(stall_ring_make(&ring, 1, 4000));
    for (uint32_t i = 0; i < 3000; i++) {
        begins[i] = now += 1 + random_below(&seed, 100);
        stall_ring_note(&ring, now, now + 1);
    }
    for (uint32_t n = 0; n < 20000; n++) {
        const uint64_t at = random_below(&seed, now + 50);
        uint64_t last = 0;

        for (uint32_t i = 0; i < 3000 && begins[i] <= at; i++)
            last = begins[i];
        assert_int_equal(stall_ring_find(&ring, at, &found), last ? STALL_FOUND : STALL_NONE);
        if (last)
            assert_int_equal(found.begin, last);
    }
    stall_ring_free(&ring);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_ring_has_none),
        cmocka_unit_test(the_last_stall_that_had_begun_is_found),
        cmocka_unit_test(frames_are_out_of_reach_once_the_loop_has_caught_up),
        cmocka_unit_test(a_burst_that_a_stall_breaks_off_goes_on_after_it),
        cmocka_unit_test(what_was_overwritten_is_forgotten_and_not_denied),
        cmocka_unit_test(a_ring_holds_all_that_can_begin_in_its_reach),
        cmocka_unit_test(any_time_is_found_as_a_look_at_each_stall_finds_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
