/* SPDX-License-Identifier: Apache-2.0 */
/* Each in a child, which cannot undo what it gave up. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/confinement.h"
#include "unit_test.h"

#define NOT_BUILT 77

/* What `act` returns in a confined child: 0 is as it should be. */
static int
confined(int (*act)(void))
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        const int error = confine();

        _exit(error == -ENOSYS || error == -EINVAL ? NOT_BUILT : error ? 99 : act());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_BUILT)
        skip();
    return WEXITSTATUS(status);
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

static int
signals_its_parent(void)
{
    return kill(getppid(), 0) == -1 && errno == EPERM ? 0 : 1;
}

static int
leaves_its_namespace(void)
{
    return unshare(CLONE_NEWNET) == -1 && errno == EPERM ? 0 : 1;
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
nothing(void *argument)
{
    return argument;
}

/* What DPDK and its drivers do: threads, Unix sockets, questions about interfaces, memory. */
static int
does_its_work(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    if (socket(AF_UNIX, SOCK_SEQPACKET, 0) < 0 || socket(AF_INET, SOCK_DGRAM, 0) < 0)
        return 2;
    if (memfd_create("ring", MFD_CLOEXEC) < 0)
        return 3;
    /* abort() must end the process. */
    return syscall(SYS_tgkill, getpid(), gettid(), 0) == 0 ? 0 : 4;
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
REFUSED(does_its_work)

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
        cmocka_unit_test(test_does_its_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
