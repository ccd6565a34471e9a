/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of frames in the classic pcap format with times in nanoseconds (draft-ietf-opsawg-pcap:
 * magic 0xa1b23c4d, link type 1 for Ethernet), in this machine's byte order.
 *
 * Frames are gathered and written many at a time, so that a reader finds whole ones up to the
 * file's end, but for the moment in which it is written. What could not be written is taken off
 * again, and nothing more is written then.
 */
#ifndef PLIMSOLL_PCAP_FILE_H
#define PLIMSOLL_PCAP_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/limits.h"

/* Of a frame in the file. */
#define PCAP_RECORD_BYTES 16

struct pcap_file {
    int fd;
    int error;       /* errno of what could not be written, or 0 */
    uint64_t frames; /* that are in the file */
    uint64_t lost;   /* that could not be written */
    uint32_t gathered_frames;
    uint32_t gathered_bytes;
    uint8_t gathered[1 << 16];
};

/*
 * Makes the file, which only its owner may read, and writes its header; closed by
 * pcap_file_close(). NULL with negative errno in `*status`: -EEXIST where something has that name,
 * be it a symbolic link. Nothing is left then that it made itself.
 */
struct pcap_file *pcap_file_make(const char *path, uint32_t snap_bytes, int *status);

/*
 * A frame that came at `unix_ns`, of which the first `kept` bytes (to RECEIVED_MAX_BYTES) of
 * `length` are there.
 */
void pcap_file_add(struct pcap_file *file, uint64_t unix_ns, uint32_t length, uint32_t kept,
                   const uint8_t *bytes);

/* Writes what is gathered. */
void pcap_file_flush(struct pcap_file *file);

/* NULL is nothing to close. */
void pcap_file_close(struct pcap_file *file);

#endif
