/* SPDX-License-Identifier: Apache-2.0 */
/* Values that make room for new ones, some of them with each frame. */
#include <errno.h>

#include "written_frames.h"

#define SLOTS_MAX 256

/* A field whose base is 0, so that it carries its number, with `churn` / 2^32 new ones a frame. */
static struct written_stream
numbers_with_churn(uint32_t count, uint64_t churn, uint32_t cycle, uint32_t first)
{
    struct field one = field(30, 4, count, 1);

    one.churn = churn;
    one.cycle = cycle;
    one.first = first;
    struct written_stream stream = stream_of(1, &one);
    memset(stream.template, 0, FRAME_BYTES);
    start_stream(&stream);
    return stream;
}

static uint64_t
next_number(struct written_stream *stream)
{
    uint8_t frame[TEMPLATE_MAX];

    write_next(stream, frame);
    return carried(&stream->fields.field[0], frame);
}

static void
one_of_four_is_replaced_every_four_frames(void **state)
{
    const uint64_t expected[] = {0, 1, 2, 3, 4, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6, 3, 4, 5, 6, 7};
    struct written_stream stream = numbers_with_churn(4, FIELD_CHURN_ONE / 4, 1000, 0);

    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(next_number(&stream), expected[i]);
}

static void
every_frame_may_be_new(void **state)
{
    struct written_stream stream = numbers_with_churn(4, FIELD_CHURN_ONE, 1000, 0);

    (void)state;
    for (uint32_t i = 0; i < 3000; i++)
        assert_int_equal(next_number(&stream), i % 1000);
}

static void
a_first_number_begins_elsewhere_among_those_in_use(void **state)
{
    const uint64_t expected[] = {2, 3, 0, 1, 2, 3, 4, 1, 2, 3, 4, 5};
    struct written_stream stream = numbers_with_churn(4, FIELD_CHURN_ONE / 4, 1000, 2);

    (void)state;
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(next_number(&stream), expected[i]);
}

/*
 * A table of so many slots that are sent in turn: whenever the window moves on, the oldest
 * number's slot takes a new one. Written in bursts of any size, with some taken back.
 */
static void
check_as_a_table(uint32_t count, uint64_t churn, uint32_t cycle, uint64_t seed)
{
    struct written_stream stream = numbers_with_churn(count, churn, cycle, 0);
    uint8_t frames[FIELDS_BURST][FRAME_BYTES], *burst[FIELDS_BURST];
    static uint32_t numbers[20000];
    uint64_t slots[SLOTS_MAX], moved = 0;

    for (uint32_t i = 0; i < count; i++)
        slots[i] = i;
    for (uint32_t n = 0; n < 20000; n++) {
        for (const uint64_t due = (uint64_t)((long double)churn * n / FIELD_CHURN_ONE); moved < due;
             moved++)
            slots[moved % count] += count;
        numbers[n] = (uint32_t)(slots[n % count] % cycle);
    }
    for (uint32_t i = 0; i < FIELDS_BURST; i++)
        burst[i] = frames[i];
    for (uint32_t n = 0; n + FIELDS_BURST < 20000;) {
        const uint32_t size = 1 + (uint32_t)(random_next(&seed) % FIELDS_BURST);
        const uint32_t back = (uint32_t)(random_next(&seed) % size);

        for (uint32_t i = 0; i < size; i++)
            memcpy(frames[i], stream.template, FRAME_BYTES);
        frame_fields_write(&stream.prepared, &stream.fields, &stream.counters, burst, size);
        for (uint32_t i = 0; i < size; i++)
            assert_int_equal(carried(&stream.fields.field[0], frames[i]), numbers[n + i]);
        field_counters_rewind(&stream.counters, &stream.fields, back);
        n += size - back;
    }
}

static void
the_numbers_are_those_of_a_table_whose_oldest_is_replaced(void **state)
{
    (void)state;
    check_as_a_table(256, FIELD_CHURN_ONE / 1000, 65534, 1);
    check_as_a_table(7, FIELD_CHURN_ONE / 3, 100, 2);
    check_as_a_table(100, FIELD_CHURN_ONE * 2 / 7, 16777216, 3);
    check_as_a_table(3, FIELD_CHURN_ONE, 4, 4);
    check_as_a_table(1, 1234567890, 3, 5);
}

static void
checksums_follow(void **state)
{
    struct field one = ip_field(DST_IP, 100, 3);

    (void)state;
    one.churn = FIELD_CHURN_ONE / 10;
    one.cycle = 1 << 24;
    struct written_stream stream = stream_of(1, &one);
    for (uint32_t i = 0; i < 5000; i++) {
        uint8_t frame[TEMPLATE_MAX];

        write_next(&stream, frame);
        assert_checksums(frame);
    }
}

/* After 2^40 frames at a quarter the window has moved by 2^38, which is 0 modulo 2^24. */
static void
it_goes_on_for_days(void **state)
{
    const uint64_t expected[] = {0, 1, 2, 3, 4, 1, 2, 3};
    struct written_stream stream = numbers_with_churn(4, FIELD_CHURN_ONE / 4, 1 << 24, 0);

    (void)state;
    stream.counters.next[0] = UINT64_C(1) << 40;
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(next_number(&stream), expected[i]);
}

/* Two queues at half the rate: together they send what is in the one window. */
static void
queues_share_a_window(void **state)
{
    struct written_stream one = numbers_with_churn(8, FIELD_CHURN_ONE / 2, 1000, 0);
    struct written_stream other = numbers_with_churn(8, FIELD_CHURN_ONE / 2, 1000, 4);

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t window = i / 2;
        const uint64_t numbers[] = {next_number(&one), next_number(&other)};

        for (uint32_t queue = 0; queue < 2; queue++)
            assert_true((numbers[queue] + 1000 - window % 1000) % 1000 < 8);
    }
}

static int
prepare(enum field_kind kind, uint64_t churn, uint32_t cycle)
{
    static const uint64_t values[4];
    struct field one = field(30, 4, 4, 1);
    struct frame_fields prepared;
    uint8_t template[FRAME_BYTES];

    one.kind = kind;
    one.values = values;
    one.churn = churn;
    one.cycle = cycle;
    make_frame(template, FRAME_BYTES);
    return frame_fields_prepare(&prepared, &(struct fields){.count = 1, .field = {one}}, template,
                                WRITABLE);
}

static void
what_cannot_be_is_refused(void **state)
{
    (void)state;
    assert_int_equal(prepare(FIELD_INCREMENT, 1, 4), 0);
    assert_int_equal(prepare(FIELD_INCREMENT, FIELD_CHURN_MAX * FIELD_CHURN_ONE, 1 << 24), 0);
    assert_int_equal(prepare(FIELD_INCREMENT, FIELD_CHURN_MAX * FIELD_CHURN_ONE + 1, 4), -EINVAL);
    assert_int_equal(prepare(FIELD_INCREMENT, 1, 3), -EINVAL);
    assert_int_equal(prepare(FIELD_INCREMENT, 1, (1 << 24) + 1), -EINVAL);
    assert_int_equal(prepare(FIELD_LIST, 1, 4), -EINVAL);
    assert_int_equal(prepare(FIELD_RANDOM, 1, 4), -EINVAL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_four_is_replaced_every_four_frames),
        cmocka_unit_test(every_frame_may_be_new),
        cmocka_unit_test(a_first_number_begins_elsewhere_among_those_in_use),
        cmocka_unit_test(the_numbers_are_those_of_a_table_whose_oldest_is_replaced),
        cmocka_unit_test(checksums_follow),
        cmocka_unit_test(it_goes_on_for_days),
        cmocka_unit_test(queues_share_a_window),
        cmocka_unit_test(what_cannot_be_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
