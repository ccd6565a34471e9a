/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plimsoll-trace [--symbols FILE] [--limit EVENTS] DIRECTORY...
 *
 * Empties the ring buffers of tracefs directories (or of recordings laid out like them) and prints
 * the events inside the windows of time that stdin lists, as lines of JSON. Behind each CPU's
 * events comes a line with what was read of it. docs/kernel-trace.md describes both.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu_buffer.h"
#include "json_text.h"

struct options {
    struct symbols symbols;
    uint64_t limit;
};

static int
read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"symbols", required_argument, NULL, 's'}, {"limit", required_argument, NULL, 'l'}, {0}};
    int option;

    *options = (struct options){.limit = UINT64_MAX};
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 's')
            options->symbols.path = optarg;
        else if (option == 'l')
            options->limit = strtoull(optarg, NULL, 10);
        else
            return -EINVAL;
    }
    if (optind == argc)
        fputs("plimsoll-trace: name a directory\n", stderr);
    return optind < argc ? 0 : -EINVAL;
}

static void
write_totals(const char *directory, int cpu, const struct cpu_buffer_totals *totals)
{
    fputs("{\"directory\": ", stdout);
    json_text_write(stdout, directory, strlen(directory));
    printf(", \"cpu\": %d, \"read\": %" PRIu64 ", \"kept\": %" PRIu64 ", \"left_out\": %" PRIu64,
           cpu, totals->read, totals->kept, totals->left_out);
    printf(", \"damaged_pages\": %" PRIu64 ", \"gaps\": %" PRIu64, totals->damaged_pages,
           totals->gaps);
    printf(", \"first_tsc\": %" PRIu64 ", \"last_tsc\": %" PRIu64
           ", \"complete_from_tsc\": %" PRIu64 "}\n",
           totals->first, totals->last, totals->complete_from);
}

static int
read_cpu(const char *directory, int cpu, struct event_formats *formats,
         const struct windows *windows, uint64_t limit)
{
    struct cpu_buffer_totals totals;
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", directory, cpu);
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const int status =
        fd < 0 ? -errno : cpu_buffer_read(fd, cpu, formats, windows, limit, stdout, &totals);

    if (fd >= 0)
        close(fd);
    if (status != 0)
        fprintf(stderr, "plimsoll-trace: %s: %s\n", path, strerror(-status));
    else
        write_totals(directory, cpu, &totals);
    return status;
}

static int
read_cpus(const char *directory, struct event_formats *formats, const struct windows *windows,
          uint64_t limit)
{
    char path[PATH_MAX];
    struct dirent *entry;
    int cpu, status = 0;

    snprintf(path, sizeof(path), "%s/per_cpu", directory);
    DIR *folder = opendir(path);

    if (!folder) {
        fprintf(stderr, "plimsoll-trace: %s: %s\n", path, strerror(errno));
        return -errno;
    }
    while (status == 0 && (entry = readdir(folder))) {
        if (sscanf(entry->d_name, "cpu%d", &cpu) == 1)
            status = read_cpu(directory, cpu, formats, windows, limit);
    }
    closedir(folder);
    return status;
}

static int
read_directory(const char *directory, struct options *options, const struct windows *windows)
{
    struct event_formats formats;
    int status = event_formats_read(&formats, directory, &options->symbols);

    if (status == 0)
        status = read_cpus(directory, &formats, windows, options->limit);
    event_formats_free(&formats);
    return status;
}

int
main(int argc, char **argv)
{
    struct options options;
    struct windows windows;
    size_t line;

    if (read_options(argc, argv, &options) != 0)
        return EXIT_FAILURE;
    int status = windows_read(&windows, stdin, &line);

    if (status != 0)
        fprintf(stderr, "plimsoll-trace: stdin, line %zu: not a window behind the last one\n",
                line);
    for (int i = optind; i < argc && status == 0; i++)
        status = read_directory(argv[i], &options, &windows);
    windows_free(&windows);
    symbols_free(&options.symbols);
    if (fflush(stdout) != 0)
        return EXIT_FAILURE;
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
