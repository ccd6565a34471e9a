/* SPDX-License-Identifier: Apache-2.0 */
#include "antagonist/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "antagonist/memory_walk.h"

#define DEFAULT_WORKING_SET (UINT64_C(64) << 20)
/* More than any machine has, and little enough that no sum of bytes overflows. */
#define BYTES_MAX (UINT64_C(1) << 50)

static bool
read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;

    /* strtoull takes blanks and signs, and "-1" for the largest number. */
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *number >= least && *number <= most;
}

static const char *
read_access(const char *text, bool *random)
{
    *random = strcmp(text, "random") == 0;
    return *random || strcmp(text, "sequential") == 0 ? NULL : "--access is sequential or random";
}

static const char *
read_option(const char *name, const char *text, struct antagonist_options *options)
{
    uint64_t number = 0;

    if (strcmp(name, "--access") == 0)
        return read_access(text, &options->random);
    if (strcmp(name, "--working-set") == 0) {
        if (!read_number(text, LINE_BYTES, BYTES_MAX, &options->working_set_bytes))
            return "--working-set is a number of bytes, from 64 to 2^50";
    } else if (strcmp(name, "--rate") == 0) {
        if (!read_number(text, 0, BYTES_MAX, &options->bytes_per_s))
            return "--rate is a number of bytes a second, from 0 to 2^50";
    } else if (strcmp(name, "--writes") == 0) {
        if (!read_number(text, 0, WRITES_ALL, &number))
            return "--writes is how many of 256 steps write, from 0 to 256";
        options->writes = (uint32_t)number;
    } else if (strcmp(name, "--workers") == 0) {
        if (!read_number(text, 1, ANTAGONIST_WORKERS_MAX, &number))
            return "--workers is a number of threads, from 1 to 1024";
        options->workers = (uint32_t)number;
    } else {
        return "an option is unknown: there are --working-set, --access, --writes, --rate and "
               "--workers";
    }
    return NULL;
}

const char *
antagonist_options_read(int argc, char **argv, struct antagonist_options *options)
{
    *options = (struct antagonist_options){
        .working_set_bytes = DEFAULT_WORKING_SET,
        .workers = 1,
    };
    for (int i = 1; i < argc; i += 2) {
        const char *why = i + 1 < argc ? read_option(argv[i], argv[i + 1], options)
                                       : "the last option has no value";

        if (why != NULL)
            return why;
    }
    return NULL;
}
