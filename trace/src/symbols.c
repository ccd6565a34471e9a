/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_text.h"

/* What nm calls code: a function's own symbol, or one that another may take the place of. */
static const char code[] = "tTwW";

static int
by_address(const void *one, const void *other)
{
    const uint64_t left = ((const struct symbol *)one)->address;
    const uint64_t right = ((const struct symbol *)other)->address;

    return (left > right) - (left < right);
}

static int
keep(struct symbols *symbols, uint64_t address, const char *name)
{
    const size_t count = symbols->count;

    /* Room for 2^n: some 80,000 functions, in few steps. */
    if ((count & (count - 1)) == 0) {
        struct symbol *larger =
            realloc(symbols->functions, (count > 0 ? 2 * count : 1) * sizeof(*larger));

        if (!larger)
            return -ENOMEM;
        symbols->functions = larger;
    }
    symbols->functions[symbols->count++] = (struct symbol){address, name};
    return 0;
}

/*
 * Of a line "ffffffff81000000 T name\t[module]" that ends with a zero: the function, if it is one.
 * libtraceevent's reader takes ten times as long for the file as this one, which was most of the
 * time for a trial's events.
 */
static int
read_line(struct symbols *symbols, char *line)
{
    char *end;
    const uint64_t address = strtoull(line, &end, 16);

    /* All addresses are 0 for who may not see them. */
    if (address == 0 || end[0] != ' ' || end[1] == '\0' || end[2] != ' ' || !strchr(code, end[1]))
        return 0;
    char *name = end + 3;

    name[strcspn(name, " \t")] = '\0';
    return *name != '\0' ? keep(symbols, address, name) : 0;
}

static int
read_lines(struct symbols *symbols)
{
    char *rest;
    int status = 0;

    for (char *line = strtok_r(symbols->text, "\n", &rest); line && status == 0;
         line = strtok_r(NULL, "\n", &rest))
        status = read_line(symbols, line);
    if (symbols->count > 0)
        qsort(symbols->functions, symbols->count, sizeof(*symbols->functions), by_address);
    return status;
}

static void
read_symbols(struct symbols *symbols)
{
    size_t bytes;
    int status;

    symbols->text = file_text(symbols->path, &bytes);
    status = symbols->text ? read_lines(symbols) : -errno;
    if (status != 0)
        fprintf(stderr, "plimsoll-trace: %s: %s\n", symbols->path, strerror(-status));
    symbols->path = NULL;
}

const char *
symbols_function(struct symbols *symbols, uint64_t address)
{
    size_t first = 0;

    if (symbols->path)
        read_symbols(symbols);
    for (size_t behind = symbols->count; first < behind;) {
        const size_t middle = first + (behind - first) / 2;

        if (symbols->functions[middle].address <= address)
            first = middle + 1;
        else
            behind = middle;
    }
    return first > 0 ? symbols->functions[first - 1].name : NULL;
}

void
symbols_free(struct symbols *symbols)
{
    free(symbols->functions);
    free(symbols->text);
    *symbols = (struct symbols){0};
}
