/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that count up over whole bytes; test_fields_*.c have the other kinds and parts. */
#include <stdlib.h>

#include "written_frames.h"

static void
the_first_frame_is_the_template(void **state)
{
    struct written_stream stream = stream_of(1, (struct field[]){ip_field(DST_IP, 1024, 1)});
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    write_next(&stream, frame);
    assert_memory_equal(frame, stream.template, FRAME_BYTES);
}

static void
values_wrap_at_their_count(void **state)
{
    struct written_stream stream = stream_of(1, (struct field[]){port_field(SRC_PORT, 3, 10)});
    const uint16_t ports[] = {0xc020, 0xc02a, 0xc034, 0xc020, 0xc02a, 0xc034, 0xc020};
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    for (uint32_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        write_next(&stream, frame);
        assert_int_equal(read_word(frame + SRC_PORT), ports[i]);
        assert_int_equal(read_word(frame + DST_PORT), 0xc021);
    }
}

static void
counting_begins_at_the_first_number(void **state)
{
    struct field ports = port_field(SRC_PORT, 3, 10);
    const uint16_t expected[] = {0xc034, 0xc020, 0xc02a, 0xc034};
    struct written_stream stream;
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    ports.first = 2;
    stream = stream_of(1, &ports);
    for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        write_next(&stream, frame);
        assert_int_equal(read_word(frame + SRC_PORT), expected[i]);
    }
}

/* Counts around the burst's size, where the wrap falls anywhere in a burst or many times. */
static void
bursts_of_any_size_wrap_at_any_count(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 2 * FIELDS_BURST + 1; count++) {
        struct field address = ip_field(DST_IP, count, 3);
        struct written_stream stream;

        address.first = count / 2;
        stream = stream_of(1, &address);
        write_and_check(&stream, 0, 3000);
    }
}

static void
millions_of_flows_differ_and_come_back(void **state)
{
    struct written_stream stream =
        stream_of(1, (struct field[]){ip_field(DST_IP, FIELD_COUNT_MAX, 1)});
    const uint64_t base = big_endian(stream.template + DST_IP, 4);
    uint8_t frames[FIELDS_BURST][FRAME_BYTES] = {{0}}, *burst[FIELDS_BURST];

    (void)state;
    for (uint32_t i = 0; i < FIELDS_BURST; i++)
        burst[i] = frames[i];
    for (uint64_t number = 0; number < FIELD_COUNT_MAX + 640; number += FIELDS_BURST) {
        frame_fields_write(&stream.prepared, &stream.fields, &stream.counters, burst, FIELDS_BURST);
        for (uint32_t i = 0; i < FIELDS_BURST; i++) {
            if (big_endian(frames[i] + DST_IP, 4) != base + (number + i) % FIELD_COUNT_MAX)
                fail_msg("frame %lu", (unsigned long)(number + i));
        }
    }
}

/* Every width at every offset, over bases about to carry and to wrap. */
static void
all_widths_carry_and_wrap_within_their_bytes(void **state)
{
    (void)state;
    for (uint16_t width = 1; width <= 8; width++) {
        for (uint16_t offset = 0; offset + width <= WRITABLE; offset++) {
            const struct field one = field(offset, width, 1000, 257);
            struct written_stream stream = stream_of(1, &one);
            uint8_t frame[TEMPLATE_MAX];

            memset(stream.template + offset, 0xff, width);
            stream.template[offset + width - 1] = 0x10;
            start_stream(&stream);
            for (uint32_t number = 0; number < 2500; number++) {
                write_next(&stream, frame);
                assert_int_equal(carried(&one, frame),
                                 value_number(&one, stream.template, number % 1000));
                memcpy(frame + offset, stream.template + offset, width);
                assert_memory_equal(frame, stream.template, TEMPLATE_MAX); /* nothing around it */
            }
        }
    }
}

/* On the heap, so that the sanitizers see a byte too far. */
static void
nothing_beyond_the_frame_is_touched(void **state)
{
    struct written_stream stream = stream_of(0, NULL);
    uint8_t *template = malloc(WRITABLE), *frame = malloc(WRITABLE);

    (void)state;
    for (uint16_t width = 1; width <= 8; width++) {
        const struct field one = field(WRITABLE - width, width, 10, 1);

        stream.fields = (struct fields){.count = 1, .field = {one}};
        memset(template, 0, WRITABLE);
        memset(frame, 0, WRITABLE);
        assert_int_equal(frame_fields_prepare(&stream.prepared, &stream.fields, template, WRITABLE),
                         0);
        field_counters_start(&stream.counters, &stream.fields);
        for (uint64_t number = 0; number < 10; number++) {
            frame_fields_write(&stream.prepared, &stream.fields, &stream.counters, &frame, 1);
            assert_int_equal(big_endian(frame + WRITABLE - width, width), number);
        }
    }
    free(frame);
    free(template);
}

static void
several_fields_change_at_once(void **state)
{
    struct written_stream stream = stream_of(6, (struct field[]){
                                                    ip_field(SRC_IP, 5000, 7),
                                                    ip_field(DST_IP, 1024, 65537),
                                                    port_field(SRC_PORT, 331, 3),
                                                    port_field(DST_PORT, 64000, 1),
                                                    field(0, 6, 77, 1),
                                                    field(6, 6, 1 << 24, UINT32_MAX),
                                                });

    (void)state;
    write_and_check(&stream, 0, 100000);
}

/* A stream's other template, longer and to another address. */
static struct written_stream
with_larger_template(const struct written_stream *small)
{
    struct written_stream large = *small;

    make_frame(large.template, 200);
    large.template[DST_IP] = 10;
    write_word(large.template + IPV4_CHECKSUM_AT, ipv4_checksum(large.template));
    write_word(large.template + UDP_CHECKSUM_AT, udp_checksum(large.template));
    large.bytes = 200 - 18;
    start_stream(&large);
    return large;
}

/*
 * Frames of two templates, in bursts of every size and in every order: the flows go on, the bases
 * and checksums are each's own. A small frame's last field is written from further ahead.
 */
static void
templates_share_the_counters(void **state)
{
    struct written_stream small =
        stream_of(4, (struct field[]){ip_field(DST_IP, 100, 1), ip_field(SRC_IP, 1024, 7),
                                      port_field(DST_PORT, 9, 5), field(0, 6, 77, 1)});
    struct written_stream large = with_larger_template(&small);
    struct written_stream *turns[FIELDS_BURST];
    const struct frame_fields *prepared[FIELDS_BURST];
    uint8_t frames[FIELDS_BURST][TEMPLATE_MAX], *burst[FIELDS_BURST];
    uint64_t seed = 3, number = 0;

    (void)state;
    for (uint32_t round = 0; round < 20 * FIELDS_BURST; round++) {
        const uint32_t count = round % FIELDS_BURST + 1;

        for (uint32_t i = 0; i < count; i++) {
            turns[i] = random_below(&seed, 3) == 0 ? &large : &small;
            prepared[i] = &turns[i]->prepared;
            burst[i] = memcpy(frames[i], turns[i]->template, TEMPLATE_MAX);
        }
        frame_fields_write_mixed(prepared, &small.fields, &small.counters, burst, count);
        for (uint32_t i = 0; i < count; i++)
            check_frame(turns[i], frames[i], number++);
    }
}

static void
rewinding_takes_back_the_last_frames(void **state)
{
    struct written_stream stream =
        stream_of(3, (struct field[]){ip_field(DST_IP, 1000, 1), port_field(SRC_PORT, 7, 1),
                                      field(0, 6, 1, 5)});
    uint64_t seed = 2, number = 0;

    (void)state;
    for (uint32_t round = 0; round < 1000; round++) {
        const uint64_t burst = 1 + random_below(&seed, 64);
        const uint64_t unsent = random_below(&seed, burst + 1);

        write_and_check(&stream, number, burst);
        field_counters_rewind(&stream.counters, &stream.fields, (uint32_t)unsent);
        number += burst - unsent;
    }
}

static void
no_fields_leave_the_frame_alone(void **state)
{
    struct written_stream stream = stream_of(0, NULL);
    uint8_t frame[TEMPLATE_MAX];

    (void)state;
    write_next(&stream, frame);
    field_counters_rewind(&stream.counters, &stream.fields, 64);
    assert_memory_equal(frame, stream.template, TEMPLATE_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_frame_is_the_template),
        cmocka_unit_test(values_wrap_at_their_count),
        cmocka_unit_test(counting_begins_at_the_first_number),
        cmocka_unit_test(bursts_of_any_size_wrap_at_any_count),
        cmocka_unit_test(millions_of_flows_differ_and_come_back),
        cmocka_unit_test(all_widths_carry_and_wrap_within_their_bytes),
        cmocka_unit_test(nothing_beyond_the_frame_is_touched),
        cmocka_unit_test(several_fields_change_at_once),
        cmocka_unit_test(templates_share_the_counters),
        cmocka_unit_test(rewinding_takes_back_the_last_frames),
        cmocka_unit_test(no_fields_leave_the_frame_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
