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

/* Reads all that is there, in which no line ends; returns how often the line was too long. */
static uint32_t
read_unended(struct fixture *fixture)
{
    enum line_status status;
    uint32_t too_long = 0;
    char *line = NULL;

    while ((status = line_reader_next(&fixture->reader, 0, &line)) == LINE_TOO_LONG)
        too_long++;
    assert_int_equal(status, LINE_NONE);
    return too_long;
}

/* Writes `count` bytes in pieces, reading after each; returns how often the line was too long. */
static uint32_t
put_long(struct fixture *fixture, size_t count)
{
    char piece[32768];
    uint32_t too_long = 0;

    memset(piece, 'x', sizeof(piece));
    while (count > 0) {
        const size_t now = count < sizeof(piece) ? count : sizeof(piece);

        put_bytes(fixture, piece, now);
        count -= now;
        too_long += read_unended(fixture);
    }
    return too_long + read_unended(fixture);
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
a_longer_line_is_reported_once_and_the_next_is_read(void **state)
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

static void
a_long_line_takes_room_only_while_it_is_held(void **state)
{
    struct fixture *fixture = *state;
    char *line = NULL;

    assert_int_equal(fixture->reader.size, LINE_USUAL_BYTES);
    assert_int_equal(put_long(fixture, LINE_MAX_BYTES / 2 + 1), 0);
    assert_int_equal(fixture->reader.size, LINE_MAX_BYTES);
    put(fixture, "\n");
    assert_int_equal(line_reader_next(&fixture->reader, 0, &line), LINE_READY);
    assert_int_equal(strlen(line), LINE_MAX_BYTES / 2 + 1);
    assert_status(fixture, LINE_NONE);
    assert_int_equal(fixture->reader.size, LINE_USUAL_BYTES);
    put(fixture, "next\n");
    assert_line(fixture, "next");
}

static void
a_line_passed_over_takes_no_room(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(put_long(fixture, LINE_MAX_BYTES), 1);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(put_long(fixture, 100000), 0);
        assert_int_equal(fixture->reader.size, LINE_USUAL_BYTES);
    }
    put(fixture, "\nnext\n");
    assert_line(fixture, "next");
}

static void
a_line_behind_a_long_one_survives_its_shrinking(void **state)
{
    struct fixture *fixture = *state;
    char *line = NULL;

    assert_int_equal(put_long(fixture, 3 * LINE_USUAL_BYTES), 0);
    put(fixture, "\none\ntw");
    assert_int_equal(line_reader_next(&fixture->reader, 0, &line), LINE_READY);
    assert_int_equal(strlen(line), 3 * LINE_USUAL_BYTES);
    assert_line(fixture, "one");
    assert_status(fixture, LINE_NONE);
    assert_int_equal(fixture->reader.size, LINE_USUAL_BYTES);
    put(fixture, "o\n");
    assert_line(fixture, "two");
}

static void
a_line_with_a_nul_is_reported_and_the_next_is_read(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
    } lines[] = {{"\0", 1}, {"{\"id\":1}\0", 9}, {"\0{\"id\":1}", 9}, {"{\0}\0", 4}};
    struct fixture *fixture = *state;

    for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        put_bytes(fixture, lines[i].bytes, lines[i].count);
        assert_status(fixture, LINE_NONE);
        put(fixture, "\nnext\n");
        assert_status(fixture, LINE_WITH_NUL);
        assert_line(fixture, "next");
    }
}

static void
a_nul_after_a_line_is_not_that_lines(void **state)
{
    struct fixture *fixture = *state;

    put_bytes(fixture, "one\n\0\ntwo\n", 10);
    assert_line(fixture, "one");
    assert_status(fixture, LINE_WITH_NUL);
    assert_line(fixture, "two");
}

static void
a_nul_in_a_longer_line_is_passed_over_with_it(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(put_long(fixture, LINE_MAX_BYTES), 1);
    put_bytes(fixture, "a\0b\nnext\n", 9);
    assert_line(fixture, "next");
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
        PIPE_TEST(a_longer_line_is_reported_once_and_the_next_is_read),
        PIPE_TEST(an_end_within_a_longer_line_is_seen),
        PIPE_TEST(a_long_line_takes_room_only_while_it_is_held),
        PIPE_TEST(a_line_passed_over_takes_no_room),
        PIPE_TEST(a_line_behind_a_long_one_survives_its_shrinking),
        PIPE_TEST(a_line_with_a_nul_is_reported_and_the_next_is_read),
        PIPE_TEST(a_nul_after_a_line_is_not_that_lines),
        PIPE_TEST(a_nul_in_a_longer_line_is_passed_over_with_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
