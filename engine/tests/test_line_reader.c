/* SPDX-License-Identifier: Apache-2.0 */
#include "control/line_reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

struct fixture {
    struct line_reader reader;
    int write_fd;
};

static int
open_pipe(void **state)
{
    struct fixture *fixture = malloc(sizeof(*fixture));
    int fds[2];

    if (!fixture || pipe(fds) != 0 || line_reader_open(&fixture->reader, fds[0]) != 0)
        return -1;
    fixture->write_fd = fds[1];
    *state = fixture;
    return 0;
}

static void
close_writer(struct fixture *fixture)
{
    if (fixture->write_fd >= 0)
        close(fixture->write_fd);
    fixture->write_fd = -1;
}

static int
close_pipe(void **state)
{
    struct fixture *fixture = *state;

    close_writer(fixture);
    close(fixture->reader.fd);
    line_reader_close(&fixture->reader);
    free(fixture);
    return 0;
}

static void
put_bytes(const struct fixture *fixture, const char *bytes, size_t count)
{
    assert_int_equal(write(fixture->write_fd, bytes, count), count);
}

static void
put(const struct fixture *fixture, const char *text)
{
    put_bytes(fixture, text, strlen(text));
}

static void
assert_line(struct fixture *fixture, const char *expected)
{
    char *line = NULL;

    assert_int_equal(line_reader_next(&fixture->reader, 0, &line), LINE_READY);
    assert_string_equal(line, expected);
}

static void
assert_status(struct fixture *fixture, enum line_status expected)
{
    char *line = NULL;

    assert_int_equal(line_reader_next(&fixture->reader, 0, &line), expected);
}

/* Writes `count` bytes in pieces, reading after each; returns how often the line was too long. */
static uint32_t
put_long(struct fixture *fixture, size_t count)
{
    char piece[32768];
    uint32_t told = 0;

    memset(piece, 'x', sizeof(piece));
    while (count > 0) {
        const size_t now = count < sizeof(piece) ? count : sizeof(piece);
        char *line = NULL;

        put_bytes(fixture, piece, now);
        count -= now;
        const enum line_status status = line_reader_next(&fixture->reader, 0, &line);
        assert_true(status == LINE_NONE || status == LINE_TOO_LONG);
        told += status == LINE_TOO_LONG;
    }
    return told;
}

static void
a_line_is_given_without_its_newline(void **state)
{
    struct fixture *fixture = *state;

    put(fixture, "{\"id\":1}\n");
    assert_line(fixture, "{\"id\":1}");
    assert_status(fixture, LINE_NONE);
}

static void
a_line_split_over_writes_is_given_once_complete(void **state)
{
    struct fixture *fixture = *state;

    put(fixture, "{\"id\"");
    assert_status(fixture, LINE_NONE);
    put(fixture, ":");
    assert_status(fixture, LINE_NONE);
    put(fixture, "1}");
    assert_status(fixture, LINE_NONE);
    put(fixture, "\n");
    assert_line(fixture, "{\"id\":1}");
}

static void
lines_of_one_write_are_given_one_by_one(void **state)
{
    struct fixture *fixture = *state;

    put(fixture, "one\n\nthree\nfo");
    assert_line(fixture, "one");
    assert_line(fixture, "");
    assert_line(fixture, "three");
    assert_status(fixture, LINE_NONE);
    put(fixture, "ur\nfive\n");
    assert_line(fixture, "four");
    assert_line(fixture, "five");
}

static void
lines_written_before_the_end_are_still_given(void **state)
{
    struct fixture *fixture = *state;

    put(fixture, "one\ntwo\n");
    close_writer(fixture);
    assert_line(fixture, "one");
    assert_line(fixture, "two");
    assert_status(fixture, LINE_END);
    assert_status(fixture, LINE_END);
}

static void
an_unfinished_line_at_the_end_is_dropped(void **state)
{
    struct fixture *fixture = *state;

    put(fixture, "one\n{\"id\":2");
    close_writer(fixture);
    assert_line(fixture, "one");
    assert_status(fixture, LINE_END);
}

static void
an_empty_input_ends(void **state)
{
    struct fixture *fixture = *state;

    assert_status(fixture, LINE_NONE);
    close_writer(fixture);
    assert_status(fixture, LINE_END);
}

static void
the_longest_line_is_given_whole(void **state)
{
    struct fixture *fixture = *state;
    char *line = NULL;

    assert_int_equal(put_long(fixture, LINE_MAX_BYTES - 1), 0);
    put(fixture, "\nnext\n");
    assert_int_equal(line_reader_next(&fixture->reader, 0, &line), LINE_READY);
    assert_int_equal(strlen(line), LINE_MAX_BYTES - 1);
    assert_int_equal(strspn(line, "x"), LINE_MAX_BYTES - 1);
    assert_line(fixture, "next");
}

static void
a_longer_line_is_told_once_and_the_next_is_read(void **state)
{
    static const size_t lengths[] = {LINE_MAX_BYTES, LINE_MAX_BYTES + 1, 2 * LINE_MAX_BYTES,
                                     2 * LINE_MAX_BYTES + 5};
    struct fixture *fixture = *state;

    for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        assert_int_equal(put_long(fixture, lengths[i]), 1);
        put(fixture, "its tail\nnext\n");
        assert_line(fixture, "next");
        put(fixture, "and another\n");
        assert_line(fixture, "and another");
    }
}

static void
an_end_within_a_longer_line_is_seen(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(put_long(fixture, LINE_MAX_BYTES + 100), 1);
    close_writer(fixture);
    assert_status(fixture, LINE_END);
}

#define PIPE_TEST(test) cmocka_unit_test_setup_teardown(test, open_pipe, close_pipe)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        PIPE_TEST(a_line_is_given_without_its_newline),
        PIPE_TEST(a_line_split_over_writes_is_given_once_complete),
        PIPE_TEST(lines_of_one_write_are_given_one_by_one),
        PIPE_TEST(lines_written_before_the_end_are_still_given),
        PIPE_TEST(an_unfinished_line_at_the_end_is_dropped),
        PIPE_TEST(an_empty_input_ends),
        PIPE_TEST(the_longest_line_is_given_whole),
        PIPE_TEST(a_longer_line_is_told_once_and_the_next_is_read),
        PIPE_TEST(an_end_within_a_longer_line_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
