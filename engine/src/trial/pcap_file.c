/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/pcap_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_NANOSECONDS 0xa1b23c4du
#define LINK_TYPE_ETHERNET 1
#define NS_PER_S UINT64_C(1000000000)

struct file_header {
    uint32_t magic;
    uint16_t version_major, version_minor;
    uint32_t zone, accuracy; /* not used, 0 */
    uint32_t snap_bytes;
    uint32_t link_type;
};

struct record_header {
    uint32_t seconds, nanoseconds;
    uint32_t kept, length;
};

_Static_assert(sizeof(struct record_header) == PCAP_RECORD_BYTES, "as the format has it");
_Static_assert(sizeof(((struct pcap_file *)0)->gathered) >= PCAP_RECORD_BYTES + RECEIVED_MAX_BYTES,
               "the longest frame can be gathered");

/* 0, or negative errno; then a part of it may have been written. */
static int
write_all(int fd, const void *from, size_t bytes)
{
    const uint8_t *at = from;

    while (bytes > 0) {
        const ssize_t count = write(fd, at, bytes);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? -errno : -EIO;
        at += count;
        bytes -= (size_t)count;
    }
    return 0;
}

/* 0 or negative errno, and then the file is gone again. */
static int
open_with_header(struct pcap_file *file, const char *path, uint32_t snap_bytes)
{
    const struct file_header header = {.magic = MAGIC_NANOSECONDS,
                                       .version_major = 2,
                                       .version_minor = 4,
                                       .snap_bytes = snap_bytes,
                                       .link_type = LINK_TYPE_ETHERNET};
    int status;

    file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file->fd < 0)
        return -errno;
    status = write_all(file->fd, &header, sizeof(header));
    if (status != 0) {
        unlink(path);
        close(file->fd);
    }
    return status;
}

struct pcap_file *
pcap_file_make(const char *path, uint32_t snap_bytes, int *status)
{
    struct pcap_file *file = calloc(1, sizeof(*file));

    *status = file ? open_with_header(file, path, snap_bytes) : -ENOMEM;
    if (*status == 0)
        return file;
    free(file);
    return NULL;
}

void
pcap_file_add(struct pcap_file *file, uint64_t unix_ns, uint32_t length, uint32_t kept,
              const uint8_t *bytes)
{
    const struct record_header header = {(uint32_t)(unix_ns / NS_PER_S),
                                         (uint32_t)(unix_ns % NS_PER_S), kept, length};

    if (sizeof(file->gathered) - file->gathered_bytes < sizeof(header) + kept)
        pcap_file_flush(file);
    memcpy(file->gathered + file->gathered_bytes, &header, sizeof(header));
    memcpy(file->gathered + file->gathered_bytes + sizeof(header), bytes, kept);
    file->gathered_bytes += (uint32_t)sizeof(header) + kept;
    file->gathered_frames++;
}

/* Takes a part of a frame off again, so that the file ends with a whole one. */
static void
take_back(const struct pcap_file *file, off_t whole)
{
    if (whole >= 0 && ftruncate(file->fd, whole) == 0)
        lseek(file->fd, whole, SEEK_SET);
}

void
pcap_file_flush(struct pcap_file *file)
{
    const off_t whole = lseek(file->fd, 0, SEEK_CUR);

    if (file->error == 0)
        file->error = -write_all(file->fd, file->gathered, file->gathered_bytes);
    if (file->error == 0) {
        file->frames += file->gathered_frames;
    } else {
        file->lost += file->gathered_frames;
        take_back(file, whole);
    }
    file->gathered_frames = file->gathered_bytes = 0;
}

void
pcap_file_close(struct pcap_file *file)
{
    if (!file)
        return;
    close(file->fd);
    free(file);
}
