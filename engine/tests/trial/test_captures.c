/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames of which ring get into which file, with which time, until it takes no more. */
#include "trial/captures.h"

#include <errno.h>

#include "temporary_folder.h"

#define FILE_HEADER 24
#define QUEUES 3
#define FRAME_BYTES 60

static struct run run;
static struct worker worker;
static struct rx_queue queues[QUEUES];
static struct trial_request request;
static struct captures *captures;
static struct error error;
static uint8_t content[1 << 16];

/* Two queues of port 1, one of port 0; a tick is two nanoseconds. */
static void
make_run(void)
{
    run = (struct run){.worker_count = 1, .workers = {&worker}};
    run.ns_per_tick = UINT64_C(2) << 32;
    worker.rx_queue_count = QUEUES;
    worker.rx_queues = queues;
    for (uint32_t i = 0; i < QUEUES; i++)
        queues[i] = (struct rx_queue){.port = i > 0};
}

static void
request_capture_of(uint16_t port, const char *name, uint64_t most_frames, bool on)
{
    struct capture_request *each = &request.captures[request.capture_count++];

    *each = (struct capture_request){
        .port = port, .on = on, .snap_bytes = FRAME_BYTES, .most_frames = most_frames};
    strcpy(each->path, temporary_path(name));
}

static void
begin(void)
{
    make_run();
    captures = captures_make(&request, &error);
    assert_non_null(captures);
    assert_true(captures_attach(captures, &run));
}

static int
clear(void **state)
{
    request.capture_count = 0;
    return make_temporary_folder(state);
}

static int
end(void **state)
{
    captures_free(captures);
    captures = NULL;
    return remove_temporary_folder(state);
}

static void
receive(uint32_t queue, uint64_t tsc)
{
    struct capture_ring *ring = queues[queue].capture;
    uint8_t *copy = capture_ring_put(ring, tsc, FRAME_BYTES, FRAME_BYTES);

    assert_non_null(copy);
    memset(copy, (int)queue, FRAME_BYTES);
    capture_ring_publish(ring);
}

static void
write_now(void)
{
    const struct clock_reading now = {.tsc = 1000, .unix_ns = UINT64_C(5000000000)};

    captures_write(captures, &run, &now);
}

/* The time in ns, and the queue, of frame `number` of a file. */
static void
assert_frame(const char *name, uint32_t number, uint64_t unix_ns, uint32_t queue)
{
    const size_t at = FILE_HEADER + number * (PCAP_RECORD_BYTES + FRAME_BYTES);
    const uint32_t record[] = {(uint32_t)(unix_ns / 1000000000), (uint32_t)(unix_ns % 1000000000),
                               FRAME_BYTES, FRAME_BYTES};

    assert_true(read_file(temporary_path(name), content, sizeof(content)) >=
                at + PCAP_RECORD_BYTES + FRAME_BYTES);
    assert_memory_equal(content + at, record, sizeof(record));
    assert_int_equal(content[at + PCAP_RECORD_BYTES], queue);
}

static void
assert_counts(uint32_t capture, uint64_t frames, uint64_t left_out)
{
    const struct capture_counts counts = captures_count(&captures->capture[capture]);

    assert_int_equal(counts.frames, frames);
    assert_int_equal(counts.left_out, left_out);
    assert_int_equal(counts.error, 0);
}

static void
frames_of_all_queues_are_in_the_order_of_their_times(void **state)
{
    (void)state;
    request_capture_of(1, "one", 100, true);
    request_capture_of(0, "zero", 100, true);
    begin();
    receive(1, 900);
    receive(1, 1002);
    receive(2, 800);
    receive(2, 1001);
    receive(0, 1000);
    write_now();
    assert_counts(0, 4, 0);
    assert_frame("one", 0, 5000000000 - 400, 2);
    assert_frame("one", 1, 5000000000 - 200, 1);
    assert_frame("one", 2, 5000000000 + 2, 2);
    assert_frame("one", 3, 5000000000 + 4, 1);
    assert_counts(1, 1, 0);
    assert_frame("zero", 0, 5000000000, 0);
}

static void
a_full_file_takes_no_more(void **state)
{
    (void)state;
    request_capture_of(0, "zero", 2, true);
    begin();
    receive(0, 1);
    receive(0, 2);
    receive(0, 3);
    assert_int_equal(*queues[0].capture->state, CAPTURE_ON);
    write_now();
    assert_counts(0, 2, 1);
    assert_int_equal(*queues[0].capture->state, CAPTURE_FULL);
    capture_ring_leave_out(queues[0].capture, 7);
    assert_counts(0, 2, 8);
    captures_switch(captures, 0, false);
    write_now();
    assert_int_equal(*queues[0].capture->state, CAPTURE_OFF);
    captures_switch(captures, 0, true);
    assert_int_equal(*queues[0].capture->state, CAPTURE_FULL);
}

static void
a_capture_is_on_or_off_as_requested(void **state)
{
    (void)state;
    request_capture_of(1, "one", 5, false);
    begin();
    assert_null(queues[0].capture);
    assert_int_equal(*queues[1].capture->state, CAPTURE_OFF);
    write_now();
    assert_int_equal(*queues[2].capture->state, CAPTURE_OFF);
    captures_switch(captures, 0, true);
    assert_int_equal(*queues[2].capture->state, CAPTURE_ON);
    assert_counts(0, 0, 0);
}

static void
another_file_counts_anew(void **state)
{
    struct capture_switch change = {.on = true};

    (void)state;
    request_capture_of(0, "zero", 1, true);
    begin();
    receive(0, 1);
    receive(0, 2);
    capture_ring_leave_out(queues[0].capture, 3);
    write_now();
    assert_counts(0, 1, 4);
    strcpy(change.path, temporary_path("zero"));
    assert_null(captures_make_file(captures, &change, &error));
    assert_string_equal(error.where, "path");
    assert_counts(0, 1, 4);
    strcpy(change.path, temporary_path("other"));
    captures_use_file(captures, 0, captures_make_file(captures, &change, &error));
    captures_switch(captures, 0, true);
    assert_int_equal(*queues[0].capture->state, CAPTURE_ON);
    assert_counts(0, 0, 0);
    receive(0, 1001);
    capture_ring_leave_out(queues[0].capture, 2);
    write_now();
    assert_counts(0, 1, 2);
    assert_frame("zero", 0, 5000000000 - 1998, 0);
    assert_frame("other", 0, 5000000000 + 2, 0);
}

static void
a_path_that_cannot_be_made_leaves_no_file(void **state)
{
    (void)state;
    request_capture_of(0, "zero", 5, true);
    request_capture_of(1, "no/folder", 5, true);
    assert_null(captures_make(&request, &error));
    assert_string_equal(error.where, "captures[1].path");
    assert_string_equal(error.message, "cannot be made: No such file or directory");
    assert_int_equal(access(temporary_path("zero"), F_OK), -1);
}

static void
a_file_that_is_there_stays_as_it_is(void **state)
{
    (void)state;
    request_capture_of(0, "zero", 5, true);
    captures = captures_make(&request, &error);
    assert_non_null(captures);
    assert_null(captures_make(&request, &error));
    assert_string_equal(error.message, "cannot be made: File exists");
    assert_int_equal(access(temporary_path("zero"), F_OK), 0);
    captures_discard(captures);
    captures = NULL;
    assert_int_equal(access(temporary_path("zero"), F_OK), -1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_of_all_queues_are_in_the_order_of_their_times, clear,
                                        end),
        cmocka_unit_test_setup_teardown(a_full_file_takes_no_more, clear, end),
        cmocka_unit_test_setup_teardown(a_capture_is_on_or_off_as_requested, clear, end),
        cmocka_unit_test_setup_teardown(another_file_counts_anew, clear, end),
        cmocka_unit_test_setup_teardown(a_path_that_cannot_be_made_leaves_no_file, clear, end),
        cmocka_unit_test_setup_teardown(a_file_that_is_there_stays_as_it_is, clear, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
