/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of plimsoll-antagonist. */
#ifndef PLIMSOLL_ANTAGONIST_OPTIONS_H
#define PLIMSOLL_ANTAGONIST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define ANTAGONIST_WORKERS_MAX 1024

struct antagonist_options {
    /* Of each worker. */
    uint64_t working_set_bytes;
    bool random;
    /* Of 256 steps. */
    uint32_t writes;
    /* Of all workers together; 0 for as fast as they can. */
    uint64_t bytes_per_s;
    uint32_t workers;
};

/*
 * Reads `--working-set BYTES --access sequential|random --writes 0..256 --rate BYTES_PER_S
 * --workers N`, each of which may be left out. Returns NULL, or why it cannot: a text that
 * stands in the program.
 */
const char *antagonist_options_read(int argc, char **argv, struct antagonist_options *options);

#endif
