/* SPDX-License-Identifier: Apache-2.0 */
#include "control/confinement.h"

#include <errno.h>
#include <sys/prctl.h>

/* LeakSanitizer stops its own process by a clone that traces it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#if PLIMSOLL_SECCOMP && !SANITIZED && (defined(__x86_64__) || defined(__aarch64__))

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define NATIVE_ARCH AUDIT_ARCH_X86_64
/* From here on the numbers are those of the x32 ABI, which would pass by the list. */
#define NUMBERS_END 0x40000000u
#else
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#define NUMBERS_END UINT32_MAX
#endif

/* Both architectures are little-endian, so an argument's lower half comes first. */
#define ARGUMENT_LOW(n) ((uint32_t)(offsetof(struct seccomp_data, args) + (n) * sizeof(uint64_t)))
#define ARGUMENT_HIGH(n) (ARGUMENT_LOW(n) + (uint32_t)sizeof(uint32_t))
#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))

#define REFUSE(number) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)

#define FILTER_MAX 512

/* Never made by the engine: docs/decisions/015 says why each group is here. */
static const uint32_t denied[] = {
    /* Other programs. */
    SYS_execve,
    SYS_execveat,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    /* Other processes: their memory, signals to them, when they run. */
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_get_robust_list,
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
#ifdef SYS_pidfd_open
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
#ifdef SYS_process_mrelease
    SYS_process_mrelease,
#endif
    /* Mounts, namespaces, and files past their names. */
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
#ifdef SYS_open_tree
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
#endif
#ifdef SYS_mount_setattr
    SYS_mount_setattr,
#endif
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_quotactl,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_mknodat,
#ifdef SYS_mknod
    SYS_mknod,
#endif
    /* The kernel and the machine: modules, reboot, clocks, names, keys, logs. */
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    SYS_reboot,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_syslog,
    /* Other users. */
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setgroups,
    SYS_capset,
    /* Much code in the kernel that nothing here needs, often the way in. */
    SYS_personality,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_vmsplice,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
#endif
};

/* Calls whose first argument is a process: our own alone, by its number or by 0. */
static const uint32_t own_process_only[] = {
    SYS_tgkill, /* abort() and pthread_kill() */
    SYS_prlimit64,
    SYS_move_pages,
    SYS_migrate_pages,
};

/* PR_SCHED_CORE (linux/prctl.h from 5.14 on) shares a CPU's core with a process that it names. */
#define SCHED_CORE 62

/* What calls must not be made for, by the value of an argument; kernels take its lower half. */
static const struct {
    uint32_t call;
    uint32_t argument;
    uint32_t value;
} denied_values[] = {
    /* Whom the kernel signals when a descriptor is ready: by any signal, after F_SETSIG. */
    {SYS_fcntl, 1, F_SETOWN_EX},
    {SYS_ioctl, 1, FIOSETOWN},
    {SYS_ioctl, 1, SIOCSPGRP},
    /* What a terminal's other processes then read. */
    {SYS_ioctl, 1, TIOCSTI},
    {SYS_ioctl, 1, TIOCLINUX},
    {SYS_prctl, 0, SCHED_CORE},
    {SYS_bpf, 0, BPF_TASK_FD_QUERY},
};

_Static_assert(128 + 2 * sizeof(denied) / sizeof(denied[0]) <= FILTER_MAX, "no room for them");

struct program {
    struct sock_filter step[FILTER_MAX];
    uint16_t length;
};

static void
append(struct program *program, const struct sock_filter *steps, size_t count)
{
    memcpy(program->step + program->length, steps, count * sizeof(*steps));
    program->length = (uint16_t)(program->length + count);
}

#define APPEND(program, ...)                                                                       \
    do {                                                                                           \
        const struct sock_filter steps[] = {__VA_ARGS__};                                          \
        append(program, steps, sizeof(steps) / sizeof(steps[0]));                                  \
    } while (0)

static void
append_architecture(struct program *program)
{
    APPEND(program, LOAD(FIELD(arch)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0),
           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), LOAD(FIELD(nr)),
           BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NUMBERS_END, 0, 1), REFUSE(EPERM));
}

#define NEW_NAMESPACES                                                                             \
    (CLONE_NEWCGROUP | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER |  \
     CLONE_NEWUTS)

/* A new thread, but no new process; clone3() hides which, and the C library then takes clone(). */
static void
append_clone(struct program *program)
{
    APPEND(program, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 5), LOAD(ARGUMENT_LOW(0)),
           BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 2, 0),
           BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1), ALLOW, REFUSE(EPERM));
#ifdef SYS_clone3
    APPEND(program, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1), REFUSE(ENOSYS));
#endif
}

#define OWN_PROCESS_STEPS 7

/* Whether the argument is this process, or 0; both halves, for the call is allowed by it. */
static void
append_own_process(struct program *program, uint32_t argument)
{
    APPEND(program, LOAD(ARGUMENT_HIGH(argument)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
           LOAD(ARGUMENT_LOW(argument)),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 2, 0),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), REFUSE(EPERM), ALLOW);
}

/* The process is the one that installs the filter: it makes none, so no other ever has it. */
static void
append_own_processes(struct program *program)
{
    for (size_t i = 0; i < sizeof(own_process_only) / sizeof(own_process_only[0]); i++) {
        APPEND(program,
               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_process_only[i], 0, OWN_PROCESS_STEPS));
        append_own_process(program, 0);
    }
    APPEND(program, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3 + OWN_PROCESS_STEPS),
           LOAD(ARGUMENT_LOW(1)),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN, 0, OWN_PROCESS_STEPS));
    append_own_process(program, 2);
    APPEND(program, LOAD(FIELD(nr)));
}

static void
append_denied_values(struct program *program)
{
    for (size_t i = 0; i < sizeof(denied_values) / sizeof(denied_values[0]); i++)
        APPEND(program, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied_values[i].call, 0, 4),
               LOAD(ARGUMENT_LOW(denied_values[i].argument)),
               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied_values[i].value, 0, 1), REFUSE(EPERM),
               LOAD(FIELD(nr)));
}

/* DPDK asks the kernel of interfaces by a datagram socket; a stream would be a way out or in. */
static void
append_socket(struct program *program)
{
    APPEND(program, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 8), LOAD(ARGUMENT_LOW(0)),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 4), LOAD(ARGUMENT_LOW(1)),
           BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 0, 1), REFUSE(EPERM), ALLOW);
}

static int
install_filter(void)
{
    struct program program = {.length = 0};
    struct sock_fprog filter;

    append_architecture(&program);
    append_clone(&program);
    append_socket(&program);
    append_own_processes(&program);
    append_denied_values(&program);
    for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++)
        APPEND(&program, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied[i], 0, 1), REFUSE(EPERM));
    APPEND(&program, ALLOW);
    filter = (struct sock_fprog){.len = program.length, .filter = program.step};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 ? 0 : -errno;
}

#else

static int
install_filter(void)
{
    return -ENOSYS;
}

#endif

int
confine(void)
{
    /* The filter needs it too, where we are not root. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -errno;
    return install_filter();
}
