/* SPDX-License-Identifier: Apache-2.0 */
/* Each in a child, which cannot undo what it gave up. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/ioprio.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/confinement.h"
#include "unit_test.h"

#define NOT_BUILT 77

/* How a confined child ends that does `act`, as waitpid() has it. */
static int
status_of(int (*act)(void))
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        const int error = confine();

        _exit(error == -ENOSYS || error == -EINVAL ? NOT_BUILT : error ? 99 : act());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_BUILT)
        skip();
    return status;
}

/* What `act` returns in a confined child: 0 is as it should be. */
static int
confined(int (*act)(void))
{
    const int status = status_of(act);

    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool
is_refused(long result)
{
    return result == -1 && errno == EPERM;
}

static int
runs_another_program(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return errno == EPERM ? 0 : errno;
}

static int
makes_a_process(void)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(0);
    return child == -1 && errno == EPERM ? 0 : 1;
}

/* Above what the kernel takes of an argument that is an int. */
#define HIGH_HALF (1UL << 32)

/* Its parent is of the same user, who without a filter may do all of this; each has a number. */
static int
signals_its_parent(void)
{
    const unsigned long parent = (unsigned long)getppid();

    if (!is_refused(kill(getppid(), 0)))
        return 1;
    if (!is_refused(syscall(SYS_tgkill, parent, parent, 0)))
        return 2;
    if (!is_refused(syscall(SYS_tgkill, HIGH_HALF | parent, parent, 0)))
        return 3;
    /* Neither its group nor all of them. */
    return is_refused(syscall(SYS_tgkill, -getpgrp(), parent, 0)) &&
                   is_refused(syscall(SYS_tgkill, -1, parent, 0))
               ? 0
               : 4;
}

/* The kernel itself sends the signal then, when the descriptor becomes readable. */
static int
has_its_parent_signalled(void)
{
    const int parent = getppid(), own = getpid();
    const struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = parent};
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    if (!is_refused(fcntl(ends[0], F_SETOWN, parent)))
        return 2;
    if (!is_refused(fcntl(ends[0], F_SETOWN, -getpgrp())))
        return 3;
    if (!is_refused(syscall(SYS_fcntl, ends[0], HIGH_HALF | F_SETOWN, parent)))
        return 4;
    if (!is_refused(fcntl(ends[0], F_SETOWN_EX, &owner)))
        return 5;
    if (!is_refused(ioctl(ends[0], FIOSETOWN, &parent)) ||
        !is_refused(ioctl(ends[0], SIOCSPGRP, &parent)))
        return 6;
    /* net_tap has itself signalled. */
    return fcntl(ends[0], F_SETOWN, own) == 0 && fcntl(ends[0], F_GETOWN) == own ? 0 : 7;
}

static int
types_into_a_terminal(void)
{
    return is_refused(ioctl(STDIN_FILENO, TIOCSTI, "x")) ? 0 : 1;
}

static int
changes_when_its_parent_runs(void)
{
    const struct sched_param parameters = {.sched_priority = 0};
    char attributes[64] = {0};

    if (!is_refused(setpriority(PRIO_PROCESS, (id_t)getppid(), 19)))
        return 1;
    if (!is_refused(sched_setscheduler(getppid(), SCHED_IDLE, &parameters)) ||
        !is_refused(sched_setparam(getppid(), &parameters)) ||
        !is_refused(syscall(SYS_sched_setattr, getppid(), attributes, 0)))
        return 2;
    if (!is_refused(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, getppid(), 0)))
        return 3;
    /* PR_SCHED_CORE, PR_SCHED_CORE_SHARE_TO, of a process. */
    return is_refused(prctl(62, 2, getppid(), 1, 0)) ? 0 : 4;
}

static int
reaches_its_parents_memory_and_limits(void)
{
    const int parent = getppid();
    struct rlimit limit;
    void *list;
    size_t length;

    if (!is_refused(prlimit(parent, RLIMIT_NOFILE, NULL, &limit)))
        return 1;
    if (!is_refused(syscall(SYS_move_pages, parent, 0UL, NULL, NULL, NULL, 0)))
        return 2;
    if (!is_refused(syscall(SYS_migrate_pages, parent, 0UL, NULL, NULL)))
        return 3;
    if (!is_refused(syscall(SYS_get_robust_list, parent, &list, &length)))
        return 4;
#ifdef SYS_process_mrelease
    if (!is_refused(syscall(SYS_process_mrelease, -1, 0)))
        return 5;
#endif
    return is_refused(syscall(SYS_bpf, BPF_TASK_FD_QUERY, NULL, 0)) ? 0 : 6;
}

static int
leaves_its_namespace(void)
{
    const int thread = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;

    if (!is_refused(unshare(CLONE_NEWNET)))
        return 1;
    return is_refused(syscall(SYS_clone, thread | CLONE_NEWNET, NULL, NULL, NULL, NULL)) ? 0 : 2;
}

static int
opens_a_stream_to_the_network(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) == -1 && errno == EPERM &&
                   socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP) == -1 && errno == EPERM
               ? 0
               : 1;
}

static int
gains_privileges(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 1;
}

static void *
waits_for_a_signal(void *heard)
{
    sigset_t one;
    int number;

    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    *(bool *)heard = sigwait(&one, &number) == 0 && number == SIGUSR1;
    return NULL;
}

static int
signals_its_threads(void)
{
    bool heard = false;
    pthread_t thread;
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    if (pthread_sigmask(SIG_BLOCK, &one, NULL) != 0 ||
        pthread_create(&thread, NULL, waits_for_a_signal, &heard) != 0)
        return 1;
    if (pthread_kill(thread, SIGUSR1) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    if (syscall(SYS_tgkill, getpid(), gettid(), 0) != 0)
        return 3;
    return heard ? 0 : 4;
}

static int
aborts(void)
{
    abort();
}

/* What DPDK and its drivers do: threads, their CPUs, Unix sockets, interfaces, memory, limits. */
static int
does_its_work(void)
{
    const struct rlimit unchanged = {.rlim_cur = 64, .rlim_max = 64};
    struct rlimit limit;
    pthread_t thread;
    cpu_set_t cpus;
    bool heard;

    if (signals_its_threads() != 0)
        return 1;
    if (pthread_create(&thread, NULL, waits_for_a_signal, &heard) != 0 ||
        pthread_getaffinity_np(thread, sizeof(cpus), &cpus) != 0 ||
        pthread_setaffinity_np(thread, sizeof(cpus), &cpus) != 0)
        return 2;
    if (socket(AF_UNIX, SOCK_SEQPACKET, 0) < 0 || socket(AF_INET, SOCK_DGRAM, 0) < 0)
        return 3;
    if (memfd_create("ring", MFD_CLOEXEC) < 0)
        return 4;
    if (setrlimit(RLIMIT_NOFILE, &unchanged) != 0 ||
        prlimit(getpid(), RLIMIT_NOFILE, NULL, &limit) != 0 || limit.rlim_cur != 64)
        return 5;
    return fcntl(STDIN_FILENO, F_GETFD) >= 0 && prctl(PR_SET_NAME, "confined") == 0 ? 0 : 6;
}

#define REFUSED(act)                                                                               \
    static void test_##act(void **state)                                                           \
    {                                                                                              \
        (void)state;                                                                               \
        assert_int_equal(confined(act), 0);                                                        \
    }

REFUSED(runs_another_program)
REFUSED(makes_a_process)
REFUSED(signals_its_parent)
REFUSED(leaves_its_namespace)
REFUSED(opens_a_stream_to_the_network)
REFUSED(gains_privileges)
REFUSED(has_its_parent_signalled)
REFUSED(types_into_a_terminal)
REFUSED(changes_when_its_parent_runs)
REFUSED(reaches_its_parents_memory_and_limits)
REFUSED(signals_its_threads)
REFUSED(does_its_work)

static void
test_aborts(void **state)
{
    const int status = status_of(aborts);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_another_program),
        cmocka_unit_test(test_makes_a_process),
        cmocka_unit_test(test_signals_its_parent),
        cmocka_unit_test(test_leaves_its_namespace),
        cmocka_unit_test(test_opens_a_stream_to_the_network),
        cmocka_unit_test(test_gains_privileges),
        cmocka_unit_test(test_has_its_parent_signalled),
        cmocka_unit_test(test_types_into_a_terminal),
        cmocka_unit_test(test_changes_when_its_parent_runs),
        cmocka_unit_test(test_reaches_its_parents_memory_and_limits),
        cmocka_unit_test(test_signals_its_threads),
        cmocka_unit_test(test_does_its_work),
        cmocka_unit_test(test_aborts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
