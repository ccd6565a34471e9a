/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/time/queue_hold.h"

#include "unit_test.h"

/* Away from 900 to 1000, and still at the backlog at 1040. */
static void
a_frame_may_have_waited_since_the_stall_began_or_since_it_was_sent(void **state)
{
    struct queue_hold hold = {0};

    (void)state;
    assert_int_equal(queue_hold_of(&hold, 950, 1000), 0);
    queue_hold_begin(&hold, 900);
    assert_int_equal(queue_hold_of(&hold, 100, 1000), 100);
    assert_int_equal(queue_hold_of(&hold, 950, 1000), 50);
    assert_int_equal(queue_hold_of(&hold, 950, 1040), 90);
    /* A port's own stamp may be earlier than the stall. */
    assert_int_equal(queue_hold_of(&hold, 100, 899), 0);
}

static void
a_short_poll_after_the_stall_ends_it(void **state)
{
    struct queue_hold hold = {0};

    (void)state;
    queue_hold_begin(&hold, 900);
    queue_hold_end_if_short(&hold, SHORT_POLL, false);
    assert_int_equal(queue_hold_of(&hold, 100, 1000), 100);
    /* It may have looked into the queue before the loop was away. */
    queue_hold_end_if_short(&hold, 0, true);
    assert_int_equal(queue_hold_of(&hold, 100, 1000), 100);
    queue_hold_end_if_short(&hold, SHORT_POLL - 1, false);
    assert_int_equal(queue_hold_of(&hold, 100, 1000), 0);
}

static void
a_second_stall_does_not_hide_the_first_before_the_queue_was_empty(void **state)
{
    struct queue_hold hold = {0};

    (void)state;
    queue_hold_begin(&hold, 900);
    queue_hold_begin(&hold, 1020);
    assert_int_equal(queue_hold_of(&hold, 100, 1100), 200);
    queue_hold_end_if_short(&hold, 0, false);
    queue_hold_begin(&hold, 1500);
    assert_int_equal(queue_hold_of(&hold, 100, 1530), 30);
}

static void
a_stall_from_the_first_tick_on_is_one(void **state)
{
    struct queue_hold hold = {0};

    (void)state;
    queue_hold_begin(&hold, 0);
    assert_int_equal(queue_hold_of(&hold, 0, 10), 9);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_may_have_waited_since_the_stall_began_or_since_it_was_sent),
        cmocka_unit_test(a_short_poll_after_the_stall_ends_it),
        cmocka_unit_test(a_second_stall_does_not_hide_the_first_before_the_queue_was_empty),
        cmocka_unit_test(a_stall_from_the_first_tick_on_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
