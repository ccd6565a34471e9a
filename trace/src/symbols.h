/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's functions by their addresses, from a file such as /proc/kallsyms. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct symbol {
    uint64_t address;
    const char *name;
};

struct symbols {
    const char *path; /* yet to be read; NULL for none, or once it was */
    char *text;
    struct symbol *functions; /* by address */
    size_t count;
};

/*
 * The name of the function that holds an address, without its module; NULL where there is none
 * below it. The first call reads the file. One that cannot be read is reported on stderr, and has
 * no functions: then addresses stay numbers, which is no reason to fail.
 */
const char *symbols_function(struct symbols *symbols, uint64_t address);

void symbols_free(struct symbols *symbols);
