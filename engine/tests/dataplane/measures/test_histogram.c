/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "seeded_random.h"
#include "unit_test.h"

/*
 * HdrHistogram's own way to a counts index, written out as its documentation does:
 * two digits need 2 * 10^2 = 200 sub-buckets, rounded up to 2^8; bucket b holds
 * values of up to 8 + b bits in steps of 2^b, and all but bucket 0 use their upper half.
 */
static uint32_t
documented_index(uint64_t value)
{
    const uint32_t sub_bucket_count = 256, half_count = 128;
    uint32_t bucket = 0;

    while (value >> bucket >= sub_bucket_count)
        bucket++;
    const uint32_t sub_bucket = (uint32_t)(value >> bucket);
    return (bucket + 1) * half_count + sub_bucket - half_count;
}

static struct histogram *
empty(void)
{
    struct histogram *histogram = malloc(sizeof(*histogram));

    assert_non_null(histogram);
    histogram_clear(histogram);
    return histogram;
}

/* Spread evenly over the orders of magnitude, up to 37 bits. */
static uint64_t
random_value(uint64_t *state)
{
    return random_next(state) >> (27 + random_below(state, 37));
}

static void
indices_are_those_of_hdrhistogram(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint64_t value = 0; value < 1 << 18; value++)
        assert_int_equal(histogram_index(value), documented_index(value));
    for (uint32_t bits = 18; bits < HISTOGRAM_VALUE_BITS; bits++) {
        for (uint64_t near = 0; near < 5; near++) {
            const uint64_t value = (UINT64_C(1) << bits) + near - 2;

            assert_int_equal(histogram_index(value), documented_index(value));
        }
    }
    for (uint32_t i = 0; i < 1000000; i++) {
        const uint64_t value = random_value(&seed);

        assert_int_equal(histogram_index(value), documented_index(value));
    }
}

static void
indices_by_hand(void **state)
{
    (void)state;
    assert_int_equal(histogram_index(0), 0);
    assert_int_equal(histogram_index(255), 255);
    assert_int_equal(histogram_index(256), 256); /* in steps of 2: 128 + 256 / 2 */
    assert_int_equal(histogram_index(257), 256);
    assert_int_equal(histogram_index(258), 257);
    assert_int_equal(histogram_index(1000), 506); /* in steps of 4: 2 * 128 + 1000 / 4 */
    assert_int_equal(histogram_index(HISTOGRAM_HIGHEST), 3967);
    assert_int_equal(HISTOGRAM_BUCKETS, 3968);
}

/* Walks all buckets by their lowest values: none is skipped, and none is wider than promised. */
static void
a_bucket_spans_less_than_a_128th_of_its_values(void **state)
{
    uint64_t lowest = 0;

    (void)state;
    for (uint32_t index = 0; index < HISTOGRAM_BUCKETS; index++) {
        uint64_t width = 1;

        assert_int_equal(histogram_index(lowest), index);
        while (lowest + width <= HISTOGRAM_HIGHEST && histogram_index(lowest + width) == index)
            width *= 2;
        assert_true(width == 1 || 128 * (width - 1) < lowest);
        assert_int_equal(histogram_index(lowest + width - 1), index);
        lowest += width;
    }
    assert_int_equal(lowest, HISTOGRAM_HIGHEST + 1);
}

static void
count_sum_min_and_max_are_exact(void **state)
{
    struct histogram *histogram = empty();

    (void)state;
    histogram_record(histogram, 1001);
    histogram_record_many(histogram, 7, 2);
    histogram_record(histogram, 1000003);
    assert_int_equal(histogram->count, 4);
    assert_int_equal(histogram->sum, 1001018);
    assert_int_equal(histogram->min, 7);
    assert_int_equal(histogram->max, 1000003);
    assert_int_equal(histogram->buckets[7], 2);
    assert_int_equal(histogram->buckets[documented_index(1001)], 1);
    assert_int_equal(histogram->buckets[documented_index(1000003)], 1);
    free(histogram);
}

static void
values_beyond_the_range_go_into_the_last_bucket(void **state)
{
    struct histogram *histogram = empty();

    (void)state;
    histogram_record(histogram, HISTOGRAM_HIGHEST + 1);
    histogram_record(histogram, UINT64_C(1) << 62);
    assert_int_equal(histogram->buckets[HISTOGRAM_BUCKETS - 1], 2);
    assert_int_equal(histogram->min, HISTOGRAM_HIGHEST + 1);
    assert_int_equal(histogram->max, UINT64_C(1) << 62);
    assert_int_equal(histogram->sum, (UINT64_C(1) << 62) + (UINT64_C(1) << 37));
    free(histogram);
}

static void
merged_parts_are_what_one_histogram_of_all_would_be(void **state)
{
    struct histogram *parts[3] = {empty(), empty(), empty()}, *all = empty(), *merged = empty();
    uint64_t seed = 2;

    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        const uint64_t value = random_value(&seed);

        histogram_record(parts[random_below(&seed, 3)], value);
        histogram_record(all, value);
    }
    for (uint32_t i = 0; i < 3; i++) {
        histogram_add(merged, parts[i]);
        free(parts[i]);
    }
    assert_memory_equal(merged, all, sizeof(*all));
    free(all);
    free(merged);
}

static void
merging_an_empty_one_changes_nothing(void **state)
{
    struct histogram *nothing = empty(), *histogram = empty(), *before = empty();

    (void)state;
    histogram_add(histogram, nothing);
    assert_memory_equal(histogram, nothing, sizeof(*nothing));
    assert_int_equal(histogram->count, 0);
    assert_int_equal(histogram->min, UINT64_MAX);

    histogram_record(histogram, 4711);
    memcpy(before, histogram, sizeof(*before));
    histogram_add(histogram, nothing);
    assert_memory_equal(histogram, before, sizeof(*before));
    histogram_add(nothing, before);
    assert_memory_equal(nothing, before, sizeof(*before));
    free(nothing);
    free(histogram);
    free(before);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_are_those_of_hdrhistogram),
        cmocka_unit_test(indices_by_hand),
        cmocka_unit_test(a_bucket_spans_less_than_a_128th_of_its_values),
        cmocka_unit_test(count_sum_min_and_max_are_exact),
        cmocka_unit_test(values_beyond_the_range_go_into_the_last_bucket),
        cmocka_unit_test(merged_parts_are_what_one_histogram_of_all_would_be),
        cmocka_unit_test(merging_an_empty_one_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
