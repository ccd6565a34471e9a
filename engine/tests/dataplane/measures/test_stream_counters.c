/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/stream_counters.h"

#include <string.h>

#include "unit_test.h"

static void
each_counter_has_a_name_and_a_place_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < STREAM_COUNTERS; i++) {
        assert_true(strlen(stream_counters[i].name) > 0);
        assert_true(stream_counters[i].offset < sizeof(struct stream_counters));
        assert_int_equal(stream_counters[i].offset % sizeof(uint64_t), 0);
        for (size_t other = 0; other < i; other++) {
            assert_string_not_equal(stream_counters[i].name, stream_counters[other].name);
            assert_int_not_equal(stream_counters[i].offset, stream_counters[other].offset);
        }
    }
}

static uint64_t
value_of(const struct stream_counters *counters, const char *name)
{
    for (size_t i = 0; i < STREAM_COUNTERS; i++) {
        if (strcmp(stream_counters[i].name, name) == 0)
            return stream_counter_value(counters, &stream_counters[i]);
    }
    fail_msg("no counter is named %s", name);
    return 0;
}

static void
a_name_stands_for_its_counter(void **state)
{
    const struct stream_counters counters = {
        .tx = {.sent = 1, .refused = 2, .skipped = 3, .no_buffer = 4, .timed_out = 5},
        .rx = {.received = 6,
               .out_of_order = 7,
               .duplicate = 8,
               .checked = 9,
               .header_checked = 10,
               .unchecked = 11,
               .received_bytes = 13},
        .strays = {.corrupt = 12, .misdirected = UINT64_MAX},
    };

    (void)state;
    assert_int_equal(value_of(&counters, "sent"), 1);
    assert_int_equal(value_of(&counters, "refused"), 2);
    assert_int_equal(value_of(&counters, "skipped"), 3);
    assert_int_equal(value_of(&counters, "no_buffer"), 4);
    assert_int_equal(value_of(&counters, "timed_out"), 5);
    assert_int_equal(value_of(&counters, "received"), 6);
    assert_int_equal(value_of(&counters, "out_of_order"), 7);
    assert_int_equal(value_of(&counters, "duplicate"), 8);
    assert_int_equal(value_of(&counters, "checked"), 9);
    assert_int_equal(value_of(&counters, "header_checked"), 10);
    assert_int_equal(value_of(&counters, "unchecked"), 11);
    assert_int_equal(value_of(&counters, "received_bytes"), 13);
    assert_int_equal(value_of(&counters, "corrupt"), 12);
    assert_int_equal(value_of(&counters, "misdirected"), UINT64_MAX);
}

/* Counter i of `counters` becomes (i + 1) * factor. */
static void
fill(void *counters, size_t bytes, uint64_t factor)
{
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
        const uint64_t value = (i + 1) * factor;

        memcpy((char *)counters + i * sizeof(value), &value, sizeof(value));
    }
}

static void
a_sum_takes_every_counter(void **state)
{
    struct stream_counters sum, added;

    (void)state;
    fill(&sum, sizeof(sum), 1);
    fill(&added, sizeof(added), 1000);
    stream_counters_add(&sum, &added);
    for (size_t i = 0; i < STREAM_COUNTERS; i++) {
        const uint64_t number = stream_counters[i].offset / sizeof(uint64_t) + 1;

        assert_int_equal(stream_counter_value(&sum, &stream_counters[i]), 1001 * number);
    }
}

static void
a_part_is_added_to_its_part_alone(void **state)
{
    struct stream_counters sum = {.tx = {.sent = 100}, .strays = {.corrupt = 1}};
    const struct rx_counters received = {.received = 7, .unchecked = 3};
    const struct stray_counters strays = {.corrupt = 20, .misdirected = 4};

    (void)state;
    rx_counters_add(&sum.rx, &received);
    rx_counters_add(&sum.rx, &received);
    stray_counters_add(&sum.strays, &strays);
    assert_int_equal(sum.tx.sent, 100);
    assert_int_equal(sum.tx.timed_out, 0);
    assert_int_equal(sum.rx.received, 14);
    assert_int_equal(sum.rx.out_of_order, 0);
    assert_int_equal(sum.rx.unchecked, 6);
    assert_int_equal(sum.strays.corrupt, 21);
    assert_int_equal(sum.strays.misdirected, 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_counter_has_a_name_and_a_place_of_its_own),
        cmocka_unit_test(a_name_stands_for_its_counter),
        cmocka_unit_test(a_sum_takes_every_counter),
        cmocka_unit_test(a_part_is_added_to_its_part_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
