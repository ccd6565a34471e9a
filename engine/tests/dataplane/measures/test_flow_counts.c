/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/flow_counts.h"

#include <string.h>

#include "dataplane/frames/frame_fields.h"
#include "seeded_random.h"
#include "unit_test.h"

#define FLOWS_MOST 65536

static void
a_flow_is_what_is_left_of_the_number(void **state)
{
    struct flow_counts *counts = flow_counts_make(5, 3);

    (void)state;
    assert_non_null(counts);
    /* Numbers 0 to 6 are of flows 3 4 0 1 2 3 4. */
    flow_counts_note(counts, 0, 7, 100, true);
    assert_int_equal(counts->flows[0].received, 1);
    assert_int_equal(counts->flows[1].received, 1);
    assert_int_equal(counts->flows[2].received, 1);
    assert_int_equal(counts->flows[3].received, 2);
    assert_int_equal(counts->flows[4].received, 2);
    /* Two are lost, and a later one goes on from there: number 9 is of flow 2. */
    flow_counts_note(counts, 9, 1, 50, true);
    assert_int_equal(counts->flows[2].received, 2);
    /* Far ahead, and back again: 3 + 1000000000001 = 4 and 3 + 7 = 0 (mod 5). */
    flow_counts_note(counts, UINT64_C(1000000000001), 1, 50, true);
    assert_int_equal(counts->flows[4].received, 3);
    flow_counts_note(counts, 7, 1, 50, true);
    assert_int_equal(counts->flows[0].received, 2);
    flow_counts_free(counts);
}

static void
latencies_are_those_of_timed_frames(void **state)
{
    struct flow_counts *counts = flow_counts_make(2, 0);

    (void)state;
    flow_counts_note(counts, 0, 1, 700, true);
    flow_counts_note(counts, 2, 1, 300, true);
    flow_counts_note(counts, 4, 1, 5, false);
    assert_int_equal(counts->flows[0].received, 3);
    assert_int_equal(counts->flows[0].timed, 2);
    assert_int_equal(counts->flows[0].latency_sum, 1000);
    assert_int_equal(counts->flows[0].latency_min, 300);
    assert_int_equal(counts->flows[0].latency_max, 700);
    assert_int_equal(counts->flows[1].timed, 0);
    assert_int_equal(counts->flows[1].latency_min, UINT32_MAX);
    assert_int_equal(counts->flows[1].latency_max, 0);
    /* More than 32 bits of ns: the sum is exact, the longest stands for that and more. */
    flow_counts_note(counts, 1, 1, UINT64_C(5000000000), true);
    assert_int_equal(counts->flows[1].latency_sum, UINT64_C(5000000000));
    assert_int_equal(counts->flows[1].latency_max, UINT32_MAX);
    flow_counts_free(counts);
}

static void
duplicates_are_of_their_flow(void **state)
{
    struct flow_counts *counts = flow_counts_make(3, 1);

    (void)state;
    flow_counts_note(counts, 0, 6, 1, true);
    flow_counts_note_duplicate(counts, 4);
    flow_counts_note(counts, 4, 1, 1, true);
    /* Number 4 is of flow (1 + 4) mod 3. */
    assert_int_equal(counts->duplicates[2], 1);
    assert_int_equal(counts->duplicates[0] + counts->duplicates[1], 0);
    assert_int_equal(counts->flows[2].received, 3);
    flow_counts_free(counts);
}

static void
queues_add_up(void **state)
{
    struct flow_counts *one = flow_counts_make(2, 0), *other = flow_counts_make(2, 0);

    (void)state;
    flow_counts_note(one, 0, 1, 40, true);
    flow_counts_note(other, 2, 1, 20, true);
    flow_counts_note(other, 1, 1, 60, true);
    flow_counts_note_duplicate(other, 1);
    flow_counts_add(one, other);
    assert_int_equal(one->flows[0].received, 2);
    assert_int_equal(one->flows[0].timed, 2);
    assert_int_equal(one->flows[0].latency_sum, 60);
    assert_int_equal(one->flows[0].latency_min, 20);
    assert_int_equal(one->flows[0].latency_max, 40);
    assert_int_equal(one->flows[1].received, 1);
    assert_int_equal(one->flows[1].latency_min, 60);
    assert_int_equal(one->duplicates[1], 1);
    flow_counts_free(one);
    flow_counts_free(other);
}

static void
what_was_sent_of_a_flow_follows_from_all(void **state)
{
    struct flow_counts *counts = flow_counts_make(4, 2);

    (void)state;
    /* Numbers 0 to 5 are of flows 2 3 0 1 2 3. */
    assert_int_equal(flow_counts_sent(counts, 6, 0), 1);
    assert_int_equal(flow_counts_sent(counts, 6, 1), 1);
    assert_int_equal(flow_counts_sent(counts, 6, 2), 2);
    assert_int_equal(flow_counts_sent(counts, 6, 3), 2);
    assert_int_equal(flow_counts_sent(counts, 0, 2), 0);
    assert_int_equal(flow_counts_sent(counts, 1, 2), 1);
    assert_int_equal(flow_counts_sent(counts, 1, 3), 0);
    flow_counts_free(counts);
}

/* The flow of a number, read back from the frame that the sender writes for it. */
static void
flows_are_the_values_that_the_sender_writes(void **state)
{
    const uint32_t count = 7, first = 4;
    const struct fields fields = {.count = 1,
                                  .field[0] = {.offset = 20,
                                               .width = 2,
                                               .count = count,
                                               .step = 1,
                                               .first = first,
                                               .every = 1,
                                               .mask = UINT16_MAX}};
    struct flow_counts *counts = flow_counts_make(count, first);
    struct frame_fields prepared;
    struct field_counters counters;
    uint8_t frame[60] = {0};
    uint8_t *frames[] = {frame};

    (void)state;
    assert_int_equal(frame_fields_prepare(&prepared, &fields, frame, 42), 0);
    field_counters_start(&counters, &fields);
    for (uint64_t number = 0; number < 40; number++) {
        /* Some leave no room in the port, and their number and value are the next frame's. */
        if (number % 3 == 0) {
            frame_fields_write(&prepared, &fields, &counters, frames, 1);
            field_counters_rewind(&counters, &fields, 1);
        }
        frame_fields_write(&prepared, &fields, &counters, frames, 1);
        const uint32_t flow = (uint32_t)(frame[20] << 8 | frame[21]);
        const uint64_t before = counts->flows[flow].received;

        flow_counts_note(counts, number, 1, 0, true);
        assert_int_equal(counts->flows[flow].received, before + 1);
    }
    flow_counts_free(counts);
}

/* Trains of any length from any number on, against counting each frame by a division. */
static void
any_trains_are_counted_frame_by_frame(void **state)
{
    static const uint32_t sizes[] = {1, 2, 63, 1000, FLOWS_MOST};
    static uint64_t expected[FLOWS_MOST];
    uint64_t random = 20261126;

    (void)state;
    for (uint32_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        const uint32_t count = sizes[s], first = (uint32_t)(random_next(&random) % count);
        struct flow_counts *counts = flow_counts_make(count, first);
        uint64_t number = 0, frames = 0;

        memset(expected, 0, sizeof(expected));
        for (uint32_t train = 0; train < 3000; train++) {
            const uint32_t length = 1 + (uint32_t)(random_next(&random) % 64);

            number += random_next(&random) % 8 == 0 ? random_next(&random) >> 20 : 0;
            number -= random_next(&random) % 8 == 0 ? number / 2 : 0;
            flow_counts_note(counts, number, length, 1, train % 2);
            for (uint32_t i = 0; i < length; i++)
                expected[(first + number + i) % count]++;
            number += length;
            frames += length;
        }
        uint64_t sent = 0;
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(counts->flows[i].received, expected[i]);
            sent += flow_counts_sent(counts, frames, i);
        }
        assert_int_equal(sent, frames);
        flow_counts_free(counts);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_is_what_is_left_of_the_number),
        cmocka_unit_test(latencies_are_those_of_timed_frames),
        cmocka_unit_test(duplicates_are_of_their_flow),
        cmocka_unit_test(queues_add_up),
        cmocka_unit_test(what_was_sent_of_a_flow_follows_from_all),
        cmocka_unit_test(flows_are_the_values_that_the_sender_writes),
        cmocka_unit_test(any_trains_are_counted_frame_by_frame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
