/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plimsoll-antagonist: a neighbour that touches memory, for the noise of an experiment.
 *
 * Each worker has a working set of its own. Once all of it is in memory, for every worker, the
 * program prints "ready" and they begin. They go on until SIGTERM or SIGINT, upon which it says
 * in a line of JSON how many bytes they touched in how long, and ends.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "antagonist/memory_walk.h"
#include "antagonist/options.h"
#include "antagonist/touch_pace.h"

/* 64 KiB: long enough that the clock costs nothing, short enough to end at once. */
#define STEPS_AT_ONCE 1024
#define NS_PER_S UINT64_C(1000000000)
/* No longer than this without a look at whether to end. */
#define LONGEST_WAIT_NS UINT64_C(10000000)

struct crew {
    const struct antagonist_options *options;
    pthread_barrier_t start;
    atomic_bool end;
};

struct worker {
    struct crew *crew;
    struct memory_walk walk;
    pthread_t thread;
};

static uint64_t
now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void
wait_for(uint64_t wait_ns)
{
    const uint64_t ns = wait_ns < LONGEST_WAIT_NS ? wait_ns : LONGEST_WAIT_NS;
    const struct timespec wait = {.tv_nsec = (long)ns};

    if (ns > 0)
        nanosleep(&wait, NULL);
}

static void *
work(void *argument)
{
    struct worker *worker = argument;
    struct crew *crew = worker->crew;
    const uint64_t rate = crew->options->bytes_per_s / crew->options->workers;
    uint64_t begin_ns, wait_ns;

    pthread_barrier_wait(&crew->start);
    begin_ns = now_ns(CLOCK_MONOTONIC);
    while (!atomic_load_explicit(&crew->end, memory_order_relaxed)) {
        wait_ns = touch_wait_ns(worker->walk.steps * LINE_BYTES, rate,
                                now_ns(CLOCK_MONOTONIC) - begin_ns);
        if (wait_ns > 0)
            wait_for(wait_ns);
        else
            memory_walk(&worker->walk, STEPS_AT_ONCE);
    }
    return NULL;
}

/* Memory of the worker's own, all of it there before it begins. */
static int
give_memory(struct worker *worker, const struct antagonist_options *options, uint64_t seed)
{
    void *memory = mmap(NULL, options->working_set_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED)
        return -errno;
    worker->walk = (struct memory_walk){
        .words = memory,
        .lines = options->working_set_bytes / LINE_BYTES,
        .random = options->random,
        .writes = options->writes,
        .seed = seed,
    };
    return 0;
}

static int
start_workers(struct crew *crew, struct worker *workers)
{
    int rc = 0;

    for (uint32_t i = 0; i < crew->options->workers && rc == 0; i++) {
        workers[i].crew = crew;
        rc = give_memory(&workers[i], crew->options, i);
        if (rc == 0)
            rc = -pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    return rc;
}

static uint64_t
bytes_of(struct worker *workers, uint32_t count)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        bytes += workers[i].walk.steps * LINE_BYTES;
    }
    return bytes;
}

static void
run(struct crew *crew, struct worker *workers, const sigset_t *signals)
{
    uint64_t begin_ns, end_ns, bytes;
    int number;

    pthread_barrier_wait(&crew->start);
    begin_ns = now_ns(CLOCK_MONOTONIC);
    printf("ready\n");
    fflush(stdout);
    sigwait(signals, &number);
    atomic_store(&crew->end, true);
    bytes = bytes_of(workers, crew->options->workers);
    end_ns = now_ns(CLOCK_MONOTONIC);
    printf("{\"bytes\": %llu, \"wall_ns\": %llu, \"cpu_ns\": %llu}\n", (unsigned long long)bytes,
           (unsigned long long)(end_ns - begin_ns),
           (unsigned long long)now_ns(CLOCK_PROCESS_CPUTIME_ID));
}

int
main(int argc, char **argv)
{
    struct antagonist_options options;
    const char *why = antagonist_options_read(argc, argv, &options);
    struct crew crew = {.options = &options};
    struct worker *workers;
    sigset_t signals;
    int rc;

    if (why != NULL) {
        fprintf(stderr, "plimsoll-antagonist: %s\n", why);
        return 2;
    }
    /* What begins with "plimsoll" is taken for Plimsoll's own share of a CPU; this is noise. */
    prctl(PR_SET_NAME, "noise-memory");
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    workers = calloc(options.workers, sizeof(*workers));
    rc = workers == NULL ? -ENOMEM : -pthread_barrier_init(&crew.start, NULL, options.workers + 1);
    if (rc == 0)
        rc = start_workers(&crew, workers);
    if (rc != 0) {
        /* Threads that wait for the others end with the process. */
        fprintf(stderr, "plimsoll-antagonist: no memory or thread: %s\n", strerror(-rc));
        return 1;
    }
    run(&crew, workers, &signals);
    free(workers);
    return 0;
}
