/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/sequence.h"

#include <stdbool.h>
#include <stdlib.h>

#include "seeded_random.h"
#include "unit_test.h"

/* The model: a full record of what was seen, of streams this long. */
#define NUMBERS_MAX (UINT64_C(1) << 25)

struct model {
    bool *seen;
    uint64_t end; /* one more than the highest number seen */
    uint64_t distinct;
};

static enum sequence_verdict
model_see(struct model *model, uint64_t number)
{
    const bool again = model->seen[number];
    const bool highest = number >= model->end;

    model->seen[number] = true;
    model->distinct += !again;
    if (highest) {
        model->end = number + 1;
        return SEQUENCE_IN_ORDER;
    }
    return again ? SEQUENCE_DUPLICATE : SEQUENCE_OUT_OF_ORDER;
}

static void
see(struct sequence *sequence, struct model *model, uint64_t number)
{
    assert_int_equal(sequence_see(sequence, number), model_see(model, number));
    assert_int_equal(sequence->expected, model->end);
    assert_int_equal(sequence->missing, model->end - model->distinct);
}

static void
advance(struct sequence *sequence, struct model *model, uint32_t numbers)
{
    sequence_advance(sequence, numbers);
    for (uint32_t i = 0; i < numbers; i++)
        model_see(model, model->end);
    assert_int_equal(sequence->expected, model->end);
    assert_int_equal(sequence->missing, model->end - model->distinct);
}

/* How often, in a thousand steps, something other than the next number comes. */
struct weather {
    uint32_t lost;
    uint32_t late;
    uint32_t twice;
    uint32_t outage; /* a gap of up to three windows */
    uint64_t reach;  /* how far back late and repeated numbers lie */
};

/* A number up to `reach` behind; what is older than the window must not have been seen yet. */
static bool
pick_behind(const struct model *model, uint64_t *state, uint64_t reach, bool seen, uint64_t *number)
{
    const uint64_t back = 1 + random_below(state, reach);

    if (back > model->end)
        return false;
    *number = model->end - back;
    return model->seen[*number] == seen && (!seen || back <= SEQUENCE_WINDOW);
}

static uint64_t
next_number(const struct model *model, const struct weather *weather, uint64_t *state)
{
    uint32_t dice = (uint32_t)random_below(state, 1000);
    uint64_t number;

    if (dice < weather->lost)
        return model->end + random_below(state, 70);
    dice -= weather->lost;
    if (dice < weather->late && pick_behind(model, state, weather->reach, false, &number))
        return number;
    dice -= weather->late;
    if (dice < weather->twice && pick_behind(model, state, weather->reach, true, &number))
        return number;
    dice -= weather->twice;
    if (dice < weather->outage && random_below(state, 1000) == 0)
        return model->end + random_below(state, 3 * SEQUENCE_WINDOW);
    return model->end;
}

static void
follow(const struct weather *weather, uint64_t seed, uint64_t steps)
{
    struct sequence *sequence = malloc(sizeof(*sequence));
    struct model model = {.seen = calloc(NUMBERS_MAX, sizeof(bool))};

    assert_non_null(sequence);
    assert_non_null(model.seen);
    sequence_reset(sequence);
    for (uint64_t i = 0; i < steps; i++) {
        const uint64_t number = next_number(&model, weather, &seed);

        assert_true(number < NUMBERS_MAX);
        see(sequence, &model, number);
        if (random_below(&seed, 8) == 0)
            advance(sequence, &model, (uint32_t)random_below(&seed, 64));
    }
    /* The stream went around the ring several times. */
    assert_true(model.end > 4 * SEQUENCE_WINDOW);
    free(model.seen);
    free(sequence);
}

static void
a_clean_stream_is_in_order(void **state)
{
    (void)state;
    follow(&(struct weather){0}, 1, 2000000);
}

static void
loss_reordering_and_duplicates_at_close_range(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        follow(&(struct weather){.lost = 20, .late = 400, .twice = 50, .reach = 256}, seed,
               1500000);
}

static void
loss_reordering_and_duplicates_over_the_whole_window(void **state)
{
    (void)state;
    for (uint64_t seed = 5; seed <= 8; seed++)
        follow(&(struct weather){.lost = 50, .late = 300, .twice = 100, .reach = SEQUENCE_WINDOW},
               seed, 1500000);
}

static void
gaps_longer_than_the_window(void **state)
{
    (void)state;
    for (uint64_t seed = 9; seed <= 12; seed++)
        follow(
            &(struct weather){
                .lost = 10, .late = 200, .twice = 50, .outage = 20, .reach = 2 * SEQUENCE_WINDOW},
            seed, 1000000);
}

/* Gaps of exactly the window's length and its neighbours, and the numbers at its edges. */
static void
the_edges_of_the_window(void **state)
{
    struct sequence *sequence = malloc(sizeof(*sequence));

    (void)state;
    assert_non_null(sequence);
    for (uint64_t gap = SEQUENCE_WINDOW - 2; gap <= SEQUENCE_WINDOW + 2; gap++) {
        const uint64_t first = 12345, next = first + 1 + gap;

        sequence_reset(sequence);
        sequence_see(sequence, first);
        assert_int_equal(sequence->missing, first);
        assert_int_equal(sequence_see(sequence, next), SEQUENCE_IN_ORDER);
        assert_int_equal(sequence->missing, first + gap);
        /* The oldest number still followed, seen late and then again. */
        const uint64_t oldest = next + 1 - SEQUENCE_WINDOW;
        if (oldest > first) {
            assert_int_equal(sequence_see(sequence, oldest), SEQUENCE_OUT_OF_ORDER);
            assert_int_equal(sequence->missing, first + gap - 1);
        }
        assert_int_equal(sequence_see(sequence, oldest > first ? oldest : first),
                         SEQUENCE_DUPLICATE);
        assert_int_equal(sequence_see(sequence, next), SEQUENCE_DUPLICATE);
        assert_int_equal(sequence_see(sequence, next + 1), SEQUENCE_IN_ORDER);
    }
    free(sequence);
}

/* Older than the window: late or twice cannot be distinguished, so it is late, and fills a lost gap
 * if any.
 */
static void
what_is_older_than_the_window_counts_as_out_of_order(void **state)
{
    struct sequence *sequence = malloc(sizeof(*sequence));

    (void)state;
    assert_non_null(sequence);
    sequence_reset(sequence);
    assert_int_equal(sequence_see(sequence, 0), SEQUENCE_IN_ORDER);
    assert_int_equal(sequence_see(sequence, 2), SEQUENCE_IN_ORDER);
    for (uint64_t number = 3; number < SEQUENCE_WINDOW + 10; number++)
        assert_int_equal(sequence_see(sequence, number), SEQUENCE_IN_ORDER);
    assert_int_equal(sequence->missing, 1);
    assert_int_equal(sequence_see(sequence, 1), SEQUENCE_OUT_OF_ORDER);
    assert_int_equal(sequence->missing, 0);
    assert_int_equal(sequence_see(sequence, 1), SEQUENCE_OUT_OF_ORDER);
    assert_int_equal(sequence->missing, 0);
    free(sequence);
}

static void
the_first_number_need_not_be_zero(void **state)
{
    struct sequence *sequence = malloc(sizeof(*sequence));

    (void)state;
    assert_non_null(sequence);
    sequence_reset(sequence);
    assert_int_equal(sequence_see(sequence, 3), SEQUENCE_IN_ORDER);
    assert_int_equal(sequence->missing, 3);
    assert_int_equal(sequence_see(sequence, 1), SEQUENCE_OUT_OF_ORDER);
    assert_int_equal(sequence->missing, 2);
    free(sequence);
}

/* The highest number a signature holds, as a damaged frame that adds up might bring. */
static void
a_jump_to_the_highest_number_is_survived(void **state)
{
    const uint64_t highest = (UINT64_C(1) << 48) - 1;
    struct sequence *sequence = malloc(sizeof(*sequence));

    (void)state;
    assert_non_null(sequence);
    sequence_reset(sequence);
    assert_int_equal(sequence_see(sequence, 0), SEQUENCE_IN_ORDER);
    assert_int_equal(sequence_see(sequence, highest), SEQUENCE_IN_ORDER);
    assert_int_equal(sequence->missing, highest - 1);
    assert_int_equal(sequence_see(sequence, 1), SEQUENCE_OUT_OF_ORDER);
    assert_int_equal(sequence->missing, highest - 2);
    assert_int_equal(sequence_see(sequence, highest), SEQUENCE_DUPLICATE);
    free(sequence);
}

static void
a_reset_forgets_everything(void **state)
{
    struct sequence *sequence = malloc(sizeof(*sequence));

    (void)state;
    assert_non_null(sequence);
    sequence_reset(sequence);
    sequence_see(sequence, 1000);
    sequence_reset(sequence);
    assert_int_equal(sequence->missing, 0);
    assert_int_equal(sequence_see(sequence, 0), SEQUENCE_IN_ORDER);
    assert_int_equal(sequence_see(sequence, 0), SEQUENCE_DUPLICATE);
    free(sequence);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_stream_is_in_order),
        cmocka_unit_test(loss_reordering_and_duplicates_at_close_range),
        cmocka_unit_test(loss_reordering_and_duplicates_over_the_whole_window),
        cmocka_unit_test(gaps_longer_than_the_window),
        cmocka_unit_test(the_edges_of_the_window),
        cmocka_unit_test(what_is_older_than_the_window_counts_as_out_of_order),
        cmocka_unit_test(the_first_number_need_not_be_zero),
        cmocka_unit_test(a_jump_to_the_highest_number_is_survived),
        cmocka_unit_test(a_reset_forgets_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
