/* SPDX-License-Identifier: Apache-2.0 */
/* Whose word counts on a received frame: the port's, or our own sums; and what is counted. */
#include "dataplane/loop/received_check.h"

#include "internet_checksum.h"
#include "unit_test.h"

#define FRAME_BYTES 100
#define CUT_AT 37
#define BOTH_GOOD (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD)

static struct worker worker;
static struct rx_stream stream;
static struct rx_queue queue;
static struct rte_mbuf first, second;
static uint8_t frame[FRAME_BYTES];

static int
set_up(void **state)
{
    (void)state;
    memset(&stream, 0, sizeof(stream));
    stream.checked = true;
    stream.least_cover = COVER_PACKET;
    memset(&queue, 0, sizeof(queue));
    make_frame(frame, FRAME_BYTES);
    memset(&first, 0, sizeof(first));
    first.buf_addr = frame;
    first.data_len = FRAME_BYTES;
    first.pkt_len = FRAME_BYTES;
    return 0;
}

static bool
whole(uint64_t flags)
{
    first.ol_flags = flags;
    return received_whole(&worker, &queue, &stream, &first);
}

static void
what_the_port_finds_right_is_not_added_up_again(void **state)
{
    (void)state;
    queue.port_sums = true;
    frame[FRAME_BYTES - 1] ^= 1;
    assert_true(whole(BOTH_GOOD));
    assert_int_equal(stream.pages[0].frames.checked, 1);
}

static void
what_it_does_not_know_or_finds_wrong_is(void **state)
{
    static const uint64_t flags[] = {
        0,
        RTE_MBUF_F_RX_IP_CKSUM_GOOD,
        RTE_MBUF_F_RX_L4_CKSUM_GOOD,
        RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD,
        RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_GOOD,
        RTE_MBUF_F_RX_IP_CKSUM_NONE | RTE_MBUF_F_RX_L4_CKSUM_NONE,
    };
    const uint32_t count = sizeof(flags) / sizeof(flags[0]);

    (void)state;
    queue.port_sums = true;
    for (uint32_t i = 0; i < count; i++)
        assert_true(whole(flags[i]));
    assert_int_equal(stream.pages[0].frames.checked, count);
    frame[FRAME_BYTES - 1] ^= 1;
    for (uint32_t i = 0; i < count; i++)
        assert_false(whole(flags[i]));
    assert_int_equal(stream.pages[0].frames.checked, count);
}

static void
flags_of_a_port_without_checksum_offload_mean_nothing(void **state)
{
    (void)state;
    frame[FRAME_BYTES - 1] ^= 1;
    assert_false(whole(BOTH_GOOD));
}

static void
a_frame_in_segments_is_added_up_over_all(void **state)
{
    (void)state;
    memset(&second, 0, sizeof(second));
    second.buf_addr = frame + CUT_AT;
    second.data_len = FRAME_BYTES - CUT_AT;
    first.data_len = CUT_AT;
    first.next = &second;
    first.nb_segs = 2;
    assert_true(whole(0));
    frame[FRAME_BYTES - 1] ^= 1;
    assert_false(whole(0));
}

static void
less_than_the_stream_sends_is_counted(void **state)
{
    (void)state;
    write_word(frame + UDP_CHECKSUM_AT, 0);
    assert_true(whole(0));
    write_word(frame + 12, 0x0806);
    assert_true(whole(0));
    assert_int_equal(stream.pages[0].frames.checked, 0);
    assert_int_equal(stream.pages[0].frames.header_checked, 1);
    assert_int_equal(stream.pages[0].frames.unchecked, 2);
}

static void
a_stream_that_is_not_checked_is_always_whole(void **state)
{
    (void)state;
    stream.checked = false;
    frame[FRAME_BYTES - 1] ^= 1;
    assert_true(whole(0));
    assert_int_equal(stream.pages[0].frames.checked, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_the_port_finds_right_is_not_added_up_again, set_up),
        cmocka_unit_test_setup(what_it_does_not_know_or_finds_wrong_is, set_up),
        cmocka_unit_test_setup(flags_of_a_port_without_checksum_offload_mean_nothing, set_up),
        cmocka_unit_test_setup(a_frame_in_segments_is_added_up_over_all, set_up),
        cmocka_unit_test_setup(less_than_the_stream_sends_is_counted, set_up),
        cmocka_unit_test_setup(a_stream_that_is_not_checked_is_always_whole, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
