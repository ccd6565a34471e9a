/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a test makes, in a folder that is removed at its end. */
#ifndef PLIMSOLL_TEMPORARY_FOLDER_H
#define PLIMSOLL_TEMPORARY_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

static char temporary_folder[] = "/tmp/plimsoll-test-XXXXXX";

static inline int
make_temporary_folder(void **state)
{
    (void)state;
    strcpy(temporary_folder + strlen(temporary_folder) - 6, "XXXXXX");
    return mkdtemp(temporary_folder) ? 0 : -1;
}

static inline int
remove_temporary_folder(void **state)
{
    const int folder = open(temporary_folder, O_RDONLY | O_DIRECTORY);
    DIR *entries = fdopendir(folder);
    const struct dirent *entry;

    (void)state;
    while ((entry = readdir(entries)) != NULL)
        unlinkat(folder, entry->d_name, 0);
    closedir(entries);
    return rmdir(temporary_folder);
}

/* The path of a file in the folder, until the next call. */
static inline const char *
temporary_path(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", temporary_folder, name);
    return path;
}

/* Reads a file of at most `size` bytes whole; returns how many it has. */
static inline size_t
read_file(const char *path, uint8_t *into, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t count;

    assert_non_null(file);
    count = fread(into, 1, size, file);
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    return count;
}

#endif
