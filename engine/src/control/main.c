/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plimsoll-engine: sends, receives and measures frames, on requests from its standard
 * input (docs/engine-protocol.md). It listens nowhere; end of input ends it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/confinement.h"
#include "control/session.h"
#include "version.h"

static void
on_signal(int number)
{
    (void)number;
    session_end();
}

static void
set_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    /* A peer that is gone is seen by write(), and so is a file that may grow no longer. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

/* Keeps the protocol's output to itself: what libraries print goes to standard error. */
static int
take_stdout(void)
{
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    if (fd >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    return fd;
}

/* Before any thread is started, so that it holds for all of them. */
static void
give_up_privileges(void)
{
    const int error = confine();

    if (error != 0)
        fprintf(stderr, "plimsoll-engine: system calls are not filtered: %s\n", strerror(-error));
}

int
main(int argc, char **argv)
{
    int out_fd;

    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("plimsoll-engine %s\n", PLIMSOLL_VERSION);
        return EXIT_SUCCESS;
    }
    if (argc != 1) {
        fprintf(stderr, "usage: plimsoll-engine [--version]\n"
                        "It takes requests as JSON lines on standard input.\n");
        return 2;
    }
    out_fd = take_stdout();
    if (out_fd < 0) {
        perror("plimsoll-engine: standard output");
        return EXIT_FAILURE;
    }
    set_signals();
    give_up_privileges();
    return session_run(STDIN_FILENO, out_fd);
}
