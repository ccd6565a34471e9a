/* SPDX-License-Identifier: Apache-2.0 */
#include "antagonist/memory_walk.h"

#include "unit_test.h"

#define LINES 100
#define WORDS (LINES * LINE_BYTES / sizeof(uint64_t))

static uint64_t words[WORDS];

static struct memory_walk
walk_with(bool random, uint32_t writes)
{
    return (struct memory_walk){
        .words = words, .lines = LINES, .random = random, .writes = writes, .seed = 7};
}

static void
fill(uint64_t value)
{
    for (uint64_t i = 0; i < WORDS; i++)
        words[i] = value;
}

static void
a_sequential_walk_takes_every_line_in_turn(void **state)
{
    const struct memory_walk walk = walk_with(false, 0);

    (void)state;
    for (uint64_t step = 0; step < 3 * LINES; step++)
        assert_int_equal(memory_walk_line(&walk, step), step % LINES);
}

static void
a_random_walk_stays_inside_and_comes_to_every_line(void **state)
{
    const struct memory_walk walk = walk_with(true, 0);
    uint32_t seen[LINES] = {0};

    (void)state;
    for (uint64_t step = 0; step < 100 * LINES; step++) {
        const uint64_t line = memory_walk_line(&walk, step);

        assert_true(line < LINES);
        seen[line]++;
    }
    /* 100 times each on average; six standard deviations are 60. */
    for (uint32_t line = 0; line < LINES; line++)
        assert_uint_in_range(seen[line], 40, 160);
}

static void
walks_of_other_seeds_take_other_ways(void **state)
{
    const struct memory_walk one = walk_with(true, 0);
    struct memory_walk other = walk_with(true, 0);
    uint32_t same = 0;

    (void)state;
    other.seed = 8;
    for (uint64_t step = 0; step < 1000; step++)
        same += memory_walk_line(&one, step) == memory_walk_line(&other, step);
    /* Ten of a thousand by chance. */
    assert_true(same < 50);
}

static void
reading_alone_changes_nothing_and_reads_one_word_of_each_line(void **state)
{
    struct memory_walk walk = walk_with(false, 0);

    (void)state;
    fill(3);
    memory_walk(&walk, LINES);
    assert_int_equal(walk.steps, LINES);
    assert_int_equal(walk.sum, 3 * LINES);
    for (uint64_t i = 0; i < WORDS; i++)
        assert_int_equal(words[i], 3);
}

static void
so_many_of_256_steps_write(void **state)
{
    struct memory_walk walk = walk_with(false, 64);
    uint64_t written = 0;

    (void)state;
    fill(UINT64_MAX);
    /* The first 64 steps write the first 64 lines; the next 36 read. */
    memory_walk(&walk, 30);
    memory_walk(&walk, 70);
    for (uint64_t line = 0; line < LINES; line++) {
        const uint64_t word = words[line * LINE_BYTES / sizeof(uint64_t)];

        assert_true(word == (line < 64 ? line : UINT64_MAX));
        written += word != UINT64_MAX;
    }
    assert_int_equal(written, 64);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sequential_walk_takes_every_line_in_turn),
        cmocka_unit_test(a_random_walk_stays_inside_and_comes_to_every_line),
        cmocka_unit_test(walks_of_other_seeds_take_other_ways),
        cmocka_unit_test(reading_alone_changes_nothing_and_reads_one_word_of_each_line),
        cmocka_unit_test(so_many_of_256_steps_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
