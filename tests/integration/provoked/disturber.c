/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a CPU away from the loop that polls there, in one of several ways, and writes down when:
 *
 *   disturber core-taker CPU LENGTH_US PERIOD_MS
 *   disturber tlb-storm CPU SENDER_CPU LENGTH_US PERIOD_MS
 *   disturber timer-storm CPU TIMERS PERIOD_MS
 *   disturber stopper CPU PID THREAD LENGTH_US PERIOD_MS
 *   disturber quota CPU PID GROUP QUOTA_US PERIOD_US
 *   disturber freezer CPU PID GROUP LENGTH_US PERIOD_MS
 *   disturber spinner CPU PID THREAD LENGTH_US PERIOD_MS
 *   disturber tracer CPU THREAD LENGTH_US PERIOD_MS
 *   disturber mover CPU THREAD HOME_CPU OTHER_CPU LENGTH_US PERIOD_MS
 *
 * GROUP is a directory that does not exist yet, below one of cgroup v1's CPU controller, or of its
 * freezer.
 * It goes on until its input ends, as it does when its parent ends, and then prints
 * "NAME BEGIN END MOST_NS" for each time: it lasted from BEGIN to END at least, as the time stamp
 * counter had them, and MOST_NS at most.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define NS_PER_S 1000000000ULL
#define TIMES_MAX 4096
#define TIMERS_MAX 900 /* of 1024 file descriptors that a process may have by default */
#define PRIORITY 50
/* Timers are armed so long before they expire, all at once. */
#define ARMED_BEFORE_NS 120000000ULL

/* It lasted from `begin` to `end` at least, `most_ns` at most; 0 where that is not known. */
struct times {
    const char *name;
    uint64_t begin, end, most_ns;
};

struct plan {
    int cpu;
    int other; /* the sender's CPU, how many timers, or the thread that is stopped */
    uint64_t length_ns, period_ns;
    uint64_t start_ns;
};

static struct plan plan;
static struct times recorded[TIMES_MAX];
static atomic_uint recorded_count;
static atomic_bool victim_runs;
static char *page;
/* Must go on when we end. */
static pid_t stopped_pid;
/* Must be gone when we end, with `limited` back where it was. */
static const char *group;
static const char *limited;
static int home_cpu, away_cpu;
static pid_t spinning_pid;

static void
die(const char *what)
{
    fprintf(stderr, "disturber: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t
ticks(void)
{
    unsigned int cpu;

    return __rdtscp(&cpu);
}

static uint64_t
read_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t
now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

static void
record(const char *name, uint64_t begin, uint64_t end, uint64_t most_ns)
{
    const unsigned int at = atomic_fetch_add(&recorded_count, 1);

    if (at < TIMES_MAX)
        recorded[at] = (struct times){name, begin, end, most_ns};
}

/*
 * Called where a visit to the CPU is almost over. The CPU time since this place was last passed
 * holds one way to sleep and one from sleep: as much as all of this visit takes at most.
 */
static void
visited(const char *name, uint64_t begin, uint64_t end)
{
    static _Thread_local uint64_t last_ns;
    const uint64_t so_far_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);

    if (last_ns != 0)
        record(name, begin, end, so_far_ns - last_ns);
    last_ns = so_far_ns;
}

static struct timespec
timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

static void
sleep_until(uint64_t ns)
{
    const struct timespec wake = timespec_of(ns);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR)
        ;
}

/* From now on this thread runs on the CPU, under the name, before every ordinary one. */
static void
take_place(const char *name, int cpu)
{
    const struct sched_param priority = {.sched_priority = PRIORITY};
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
        die("sched_setaffinity");
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
        die("sched_setscheduler");
    prctl(PR_SET_NAME, name);
}

static void *
take_core(void *unused)
{
    (void)unused;
    take_place("core-taker", plan.cpu);
    for (uint64_t at = plan.start_ns;; at += plan.period_ns) {
        sleep_until(at);
        const uint64_t begin = ticks();
        const uint64_t end_ns = now_ns() + plan.length_ns;
        while (now_ns() < end_ns)
            ;
        visited("core-taker", begin, ticks());
    }
    return NULL;
}

/* Has the page in its TLB, so that it must be interrupted when its rights change. */
static void *
hold_page(void *unused)
{
    (void)unused;
    take_place("tlb-victim", plan.cpu);
    for (uint64_t at = plan.start_ns;; at += plan.period_ns) {
        sleep_until(at);
        const uint64_t begin = ticks();
        const uint64_t end_ns = now_ns() + plan.length_ns;
        atomic_store(&victim_runs, true);
        while (now_ns() < end_ns)
            (void)*(volatile char *)page;
        atomic_store(&victim_runs, false);
        visited("tlb-victim", begin, ticks());
    }
    return NULL;
}

/* Of the victim's time the middle half, so that frames are sent before it. */
static void *
change_rights(void *unused)
{
    (void)unused;
    take_place("tlb-sender", plan.other);
    for (uint64_t at = plan.start_ns + plan.length_ns / 4;; at += plan.period_ns) {
        sleep_until(at);
        while (now_ns() < at + plan.length_ns / 2 && atomic_load(&victim_runs)) {
            mprotect(page, 4096, PROT_READ);
            mprotect(page, 4096, PROT_READ | PROT_WRITE);
            *(volatile char *)page = 1;
        }
    }
    return NULL;
}

static void
arm(const int *timers, uint64_t expiry_ns)
{
    const struct itimerspec expiry = {.it_value = timespec_of(expiry_ns)};

    for (int i = 0; i < plan.other; i++) {
        if (timerfd_settime(timers[i], TFD_TIMER_ABSTIME, &expiry, NULL) != 0)
            die("timerfd_settime");
    }
}

/* Timers expire on the CPU where they were armed. When they will is known beforehand. */
static void *
arm_timers(void *unused)
{
    int timers[TIMERS_MAX];
    const uint64_t first_ns = now_ns(), first_ticks = ticks();

    (void)unused;
    take_place("timer-storm", plan.cpu);
    for (int i = 0; i < plan.other; i++) {
        timers[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        if (timers[i] < 0)
            die("timerfd_create");
    }
    for (uint64_t at = plan.start_ns;; at += plan.period_ns) {
        sleep_until(at);
        const uint64_t begin = ticks();
        arm(timers, at + ARMED_BEFORE_NS);
        const uint64_t end = ticks(), end_ns = now_ns();
        const double per_ns = (double)(end - first_ticks) / (double)(end_ns - first_ns);
        const uint64_t expiry =
            end + (uint64_t)((double)(int64_t)(at + ARMED_BEFORE_NS - end_ns) * per_ns);
        visited("timer-storm", begin, end);
        record("expiry", expiry, expiry, 0);
    }
    return NULL;
}

/* Of the thread that is to be stopped, as /proc has it; 0 when it has ended. */
static char
state_now(int stat)
{
    char text[256];
    const ssize_t length = pread(stat, text, sizeof(text) - 1, 0);

    text[length < 0 ? 0 : length] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end == NULL ? 0 : name_end[2];
}

/* Waits until it has stopped: by when, and, in ns, since when. False when it has ended. */
static bool
wait_for_stop(int stat, uint64_t *by, uint64_t *since_ns)
{
    for (;;) {
        const uint64_t look_ns = now_ns();
        const char state = state_now(stat);

        *by = ticks();
        if (state == 'T' || state == 0)
            return state == 'T';
        *since_ns = look_ns;
    }
}

/*
 * The signal is for the polling thread itself: of the process the kernel would choose another
 * thread, which then has to get a CPU before it tells this one.
 */
static void *
stop_process(void *unused)
{
    char path[64];

    (void)unused;
    take_place("stopper", plan.cpu);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", stopped_pid, plan.other);
    const int stat = open(path, O_RDONLY | O_CLOEXEC);
    if (stat < 0)
        die(path);
    for (uint64_t at = plan.start_ns;; at += plan.period_ns) {
        sleep_until(at);
        uint64_t begin, since_ns = now_ns();
        if (tgkill(stopped_pid, plan.other, SIGSTOP) != 0 ||
            !wait_for_stop(stat, &begin, &since_ns))
            return NULL;
        sleep_until(now_ns() + plan.length_ns);
        const uint64_t end = ticks();
        kill(stopped_pid, SIGCONT);
        record("stopper", begin, end, now_ns() - since_ns);
    }
    return NULL;
}

static int
write_to(const char *directory, const char *file, const char *text)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", directory, file);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t written = write(fd, text, strlen(text));
    close(fd);
    return written < 0 ? -1 : 0;
}

static void
limit(const char *quota_us, const char *period_us)
{
    if (mkdir(group, 0755) != 0 || write_to(group, "cpu.cfs_period_us", period_us) != 0 ||
        write_to(group, "cpu.cfs_quota_us", quota_us) != 0 ||
        write_to(group, "cgroup.procs", limited) != 0)
        die(group);
}

static void
lift_limit(void)
{
    char parent[4096];

    snprintf(parent, sizeof(parent), "%s/..", group);
    write_to(parent, "cgroup.procs", limited);
    /* A process that ends leaves its group a moment later. */
    for (int i = 0; i < 6000 && rmdir(group) != 0 && errno == EBUSY; i++)
        sleep_until(now_ns() + NS_PER_S / 100);
}

/* Whether the group has this state by now. */
static bool
is_in_state(const char *state)
{
    char path[4096], text[16] = "";

    snprintf(path, sizeof(path), "%s/freezer.state", group);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die(path);
    const ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    return length > 0 && strncmp(text, state, strlen(state)) == 0;
}

static void *
freeze_group(void *unused)
{
    (void)unused;
    take_place("freezer", plan.cpu);
    if (mkdir(group, 0755) != 0 || write_to(group, "cgroup.procs", limited) != 0)
        die(group);
    for (uint64_t at = plan.start_ns;; at += plan.period_ns) {
        sleep_until(at);
        const uint64_t since_ns = now_ns();

        if (write_to(group, "freezer.state", "FROZEN") != 0)
            die(group);
        while (!is_in_state("FROZEN"))
            ;
        const uint64_t begin = ticks();
        sleep_until(now_ns() + plan.length_ns);
        const uint64_t end = ticks();
        write_to(group, "freezer.state", "THAWED");
        record("freezer", begin, end, now_ns() - since_ns);
    }
    return NULL;
}

/* Has the thread run a handler that spins for the length; spinning_handler.c is loaded there. */
static void *
set_spinning(void *unused)
{
    (void)unused;
    take_place("spinner", plan.cpu);
    for (uint64_t at = plan.start_ns;; at += plan.period_ns) {
        sleep_until(at);
        const uint64_t since_ns = now_ns(), begin = ticks();

        if (tgkill(spinning_pid, plan.other, SIGUSR1) != 0)
            return NULL;
        sleep_until(since_ns + plan.length_ns);
        record("spinner", begin, ticks(), 0);
    }
    return NULL;
}

static void *
trace_thread(void *unused)
{
    (void)unused;
    take_place("tracer", plan.cpu);
    if (ptrace(PTRACE_SEIZE, plan.other, NULL, NULL) != 0)
        die("PTRACE_SEIZE");
    for (uint64_t at = plan.start_ns;; at += plan.period_ns) {
        sleep_until(at);
        const uint64_t since_ns = now_ns();

        if (ptrace(PTRACE_INTERRUPT, plan.other, NULL, NULL) != 0 ||
            waitpid(plan.other, NULL, __WALL) != plan.other)
            return NULL;
        const uint64_t begin = ticks();
        sleep_until(now_ns() + plan.length_ns);
        const uint64_t end = ticks();
        ptrace(PTRACE_CONT, plan.other, NULL, NULL);
        record("tracer", begin, end, now_ns() - since_ns);
    }
    return NULL;
}

static void
put_on(pid_t thread, int cpu)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    if (sched_setaffinity(thread, sizeof(cpus), &cpus) != 0 && errno != ESRCH)
        die("sched_setaffinity");
}

static void *
move_thread(void *unused)
{
    (void)unused;
    take_place("mover", plan.cpu);
    for (uint64_t at = plan.start_ns;; at += plan.period_ns) {
        sleep_until(at);
        const uint64_t since_ns = now_ns();

        put_on(plan.other, away_cpu);
        const uint64_t begin = ticks();
        sleep_until(now_ns() + plan.length_ns);
        const uint64_t end = ticks();
        put_on(plan.other, home_cpu);
        record("mover", begin, end, now_ns() - since_ns);
    }
    return NULL;
}

/* Between which two readings the group was throttled, and for how long by the kernel's count. */
static void *
watch_throttling(void *unused)
{
    char path[4096], text[512];
    uint64_t last_ticks = 0, last_times = 0, last_ns = 0;

    (void)unused;
    take_place("quota-watch", plan.cpu);
    snprintf(path, sizeof(path), "%s/cpu.stat", group);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die(path);
    for (uint64_t at = plan.start_ns;; at += plan.period_ns) {
        unsigned long long times = 0, throttled_ns = 0;

        sleep_until(at);
        const uint64_t now = ticks();
        const ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
        text[length < 0 ? 0 : length] = 0;
        if (sscanf(text, "nr_periods %*u nr_throttled %llu throttled_time %llu", &times,
                   &throttled_ns) != 2)
            die(path);
        if (last_ticks != 0 && (times != last_times || throttled_ns != last_ns))
            record(times != last_times ? "throttled" : "unthrottled", last_ticks, now,
                   throttled_ns - last_ns);
        last_ticks = now;
        last_times = times;
        last_ns = throttled_ns;
    }
    return NULL;
}

static void
start(void *(*work)(void *))
{
    pthread_t thread;

    errno = pthread_create(&thread, NULL, work, NULL);
    if (errno != 0)
        die("pthread_create");
}

static uint64_t
number(const char *text)
{
    return strtoull(text, NULL, 10);
}

static bool
start_as(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "";

    plan.start_ns = now_ns() + NS_PER_S / 2;
    plan.cpu = count > 2 ? atoi(words[2]) : 0;
    if (count == 5 && strcmp(name, "core-taker") == 0) {
        plan.length_ns = number(words[3]) * 1000;
        plan.period_ns = number(words[4]) * 1000000;
        start(take_core);
    } else if (count == 5 && strcmp(name, "timer-storm") == 0) {
        plan.other = atoi(words[3]) < TIMERS_MAX ? atoi(words[3]) : TIMERS_MAX;
        plan.period_ns = number(words[4]) * 1000000;
        start(arm_timers);
    } else if (count == 6 && strcmp(name, "tlb-storm") == 0) {
        plan.other = atoi(words[3]);
        plan.length_ns = number(words[4]) * 1000;
        plan.period_ns = number(words[5]) * 1000000;
        start(hold_page);
        start(change_rights);
    } else if (count == 7 && strcmp(name, "quota") == 0) {
        limited = words[3];
        group = words[4];
        plan.period_ns = 20000000;
        limit(words[5], words[6]);
        start(watch_throttling);
    } else if (count == 7 && strcmp(name, "stopper") == 0) {
        stopped_pid = atoi(words[3]);
        plan.other = atoi(words[4]);
        plan.length_ns = number(words[5]) * 1000;
        plan.period_ns = number(words[6]) * 1000000;
        start(stop_process);
    } else if (count == 7 && strcmp(name, "freezer") == 0) {
        limited = words[3];
        group = words[4];
        plan.length_ns = number(words[5]) * 1000;
        plan.period_ns = number(words[6]) * 1000000;
        start(freeze_group);
    } else if (count == 7 && strcmp(name, "spinner") == 0) {
        spinning_pid = atoi(words[3]);
        plan.other = atoi(words[4]);
        plan.length_ns = number(words[5]) * 1000;
        plan.period_ns = number(words[6]) * 1000000;
        start(set_spinning);
    } else if (count == 6 && strcmp(name, "tracer") == 0) {
        plan.other = atoi(words[3]);
        plan.length_ns = number(words[4]) * 1000;
        plan.period_ns = number(words[5]) * 1000000;
        start(trace_thread);
    } else if (count == 8 && strcmp(name, "mover") == 0) {
        plan.other = atoi(words[3]);
        home_cpu = atoi(words[4]);
        away_cpu = atoi(words[5]);
        plan.length_ns = number(words[6]) * 1000;
        plan.period_ns = number(words[7]) * 1000000;
        start(move_thread);
    } else {
        return false;
    }
    return true;
}

int
main(int count, char **words)
{
    char byte;

    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        die("memory");
    *page = 1;
    if (!start_as(count, words)) {
        fprintf(stderr, "disturber: see the head of disturber.c for how to call it\n");
        return 2;
    }
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    if (stopped_pid != 0)
        kill(stopped_pid, SIGCONT);
    if (group != NULL) {
        /* Of no effect but in the freezer: what is frozen cannot leave. */
        write_to(group, "freezer.state", "THAWED");
        lift_limit();
    }
    const unsigned int made = atomic_load(&recorded_count);
    for (unsigned int i = 0; i < made && i < TIMES_MAX; i++) {
        if (recorded[i].end != 0)
            printf("%s %llu %llu %llu\n", recorded[i].name, (unsigned long long)recorded[i].begin,
                   (unsigned long long)recorded[i].end, (unsigned long long)recorded[i].most_ns);
    }
    return 0;
}
