/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of the format, written out by hand; a file that is full ends with a whole frame. */
#include "trial/pcap_file.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "temporary_folder.h"

#define FILE_HEADER 24

static struct pcap_file *file;
static uint8_t content[4 << 20];

static void
make(const char *path, uint32_t snap_bytes, int expected)
{
    int status = 1;

    file = pcap_file_make(path, snap_bytes, &status);
    assert_int_equal(status, expected);
    assert_true((file != NULL) == (expected == 0));
}

static void
assert_header(uint32_t snap_bytes)
{
    /* Magic, version 2.4, zone and accuracy 0, snap length, Ethernet. */
    const uint32_t expected[] = {0xa1b23c4d, 0x00040002, 0, 0, snap_bytes, 1};

    assert_memory_equal(content, expected, FILE_HEADER);
}

static void
a_frame_is_written_with_its_time_and_lengths(void **state)
{
    const uint8_t frame[] = {0xff, 0xee, 0xdd};
    const uint32_t record[] = {1795123456, 789012345, 3, 1500};
    const char *path = temporary_path("a.pcap");
    struct stat status;

    (void)state;
    make(path, 3, 0);
    assert_int_equal(read_file(path, content, sizeof(content)), FILE_HEADER);
    assert_header(3);
    pcap_file_add(file, UINT64_C(1795123456789012345), 1500, 3, frame);
    pcap_file_flush(file);
    assert_int_equal(read_file(path, content, sizeof(content)), FILE_HEADER + 16 + 3);
    assert_header(3);
    assert_memory_equal(content + FILE_HEADER, record, sizeof(record));
    assert_memory_equal(content + FILE_HEADER + 16, frame, sizeof(frame));
    assert_int_equal(file->frames, 1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    pcap_file_close(file);
    pcap_file_close(NULL);
}

static void
many_frames_follow_each_other(void **state)
{
    const char *path = temporary_path("a.pcap");
    uint8_t frame[1500];
    size_t at = FILE_HEADER, size;

    (void)state;
    make(path, 1500, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        memset(frame, (int)(i & 0xff), sizeof(frame));
        pcap_file_add(file, i, i, i, frame);
    }
    pcap_file_flush(file);
    size = read_file(path, content, sizeof(content));
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t record[] = {0, i, i, i};

        assert_memory_equal(content + at, record, sizeof(record));
        if (i > 0)
            assert_int_equal(content[at + 16 + i - 1], i & 0xff);
        at += 16 + i;
    }
    assert_int_equal(at, size);
    assert_int_equal(file->frames, 1000);
    pcap_file_close(file);
}

static void
nothing_of_that_name_is_touched(void **state)
{
    char target[128];

    (void)state;
    strcpy(target, temporary_path("target"));
    make(target, 64, 0);
    pcap_file_close(file);
    make(target, 64, -EEXIST);
    assert_int_equal(symlink("/nowhere/at/all", temporary_path("link")), 0);
    make(temporary_path("link"), 64, -EEXIST);
    make(temporary_path("no/folder"), 64, -ENOENT);
    assert_int_equal(read_file(target, content, sizeof(content)), FILE_HEADER);
}

static void
limit_files_to(rlim_t bytes)
{
    const struct rlimit limit = {bytes, RLIM_INFINITY};

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void
a_full_disk_leaves_whole_frames(void **state)
{
    const char *path = temporary_path("a.pcap");
    const uint8_t frame[84] = {0};

    (void)state;
    make(path, 84, 0);
    pcap_file_add(file, 1, 84, 84, frame);
    pcap_file_flush(file);
    limit_files_to(FILE_HEADER + 250);
    pcap_file_add(file, 2, 84, 84, frame);
    pcap_file_add(file, 3, 84, 84, frame);
    pcap_file_flush(file);
    limit_files_to(RLIM_INFINITY);
    assert_int_equal(file->error, EFBIG);
    pcap_file_add(file, 4, 84, 84, frame);
    pcap_file_flush(file);
    assert_int_equal(read_file(path, content, sizeof(content)), FILE_HEADER + 100);
    assert_int_equal(file->frames, 1);
    assert_int_equal(file->lost, 3);
    pcap_file_close(file);
}

static void
no_header_no_file(void **state)
{
    const char *path = temporary_path("a.pcap");

    (void)state;
    limit_files_to(FILE_HEADER - 1);
    make(path, 84, -EFBIG);
    limit_files_to(RLIM_INFINITY);
    assert_int_equal(access(path, F_OK), -1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_frame_is_written_with_its_time_and_lengths,
                                        make_temporary_folder, remove_temporary_folder),
        cmocka_unit_test_setup_teardown(many_frames_follow_each_other, make_temporary_folder,
                                        remove_temporary_folder),
        cmocka_unit_test_setup_teardown(nothing_of_that_name_is_touched, make_temporary_folder,
                                        remove_temporary_folder),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_whole_frames, make_temporary_folder,
                                        remove_temporary_folder),
        cmocka_unit_test_setup_teardown(no_header_no_file, make_temporary_folder,
                                        remove_temporary_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
