"""Processes for captures, in the form of proc_pid_stat(5) and proc_pid_status(5)."""

_PF_KTHREAD = 0x00200000
_OTHER, _FIFO = 0, 1


def stat(tid: int, comm: str, *, fifo: int = 0, kernel: bool = False) -> str:
    """A stat file: `fifo` is the SCHED_FIFO priority, 0 for SCHED_OTHER."""
    flags = 0x04000040 | (_PF_KTHREAD if kernel else 0)
    # Fields 10-37 of a sleeping thread of this test bed, of which nothing is read.
    between = "0 0 0 0 9 530 0 0 20 0 1 0 24 0 0 18446744073709551615" + " 0" * 10 + " 0 0"
    policy = _FIFO if fifo else _OTHER
    return f"{tid} ({comm}) S 2 0 0 0 -1 {flags} {between} 17 1 {fifo} {policy} 0 0 0 0 0 0\n"


def running(pid: int, comm: str, *, fifo: int = 0, kernel: bool = False) -> dict[str, str]:
    """A process of which nothing but its name and priority matters."""
    return {f"/proc/{pid}/stat": stat(pid, comm, fifo=fifo, kernel=kernel)}


def process(
    pid: int,
    comm: str,
    *,
    cpus: str = "0-7",
    fifo: int = 0,
    kernel: bool = False,
    cgroup: str | None = None,
    threads: dict[int, tuple[str, str]] | None = None,
) -> dict[str, str]:
    """A process whose first thread may run on `cpus`, and `threads` by id: (name, CPUs)."""
    files = running(pid, comm, fifo=fifo, kernel=kernel)
    if cgroup is not None:
        files[f"/proc/{pid}/cgroup"] = f"{cgroup}\n"
    for tid, (name, allowed) in {pid: (comm, cpus), **(threads or {})}.items():
        folder = f"/proc/{pid}/task/{tid}"
        files[f"{folder}/stat"] = stat(tid, name, fifo=fifo, kernel=kernel)
        files[f"{folder}/status"] = f"Name:\t{name}\nCpus_allowed_list:\t{allowed}\n"
    return files


# Process 2 of every host that shows its processes.
KTHREADD = running(2, "kthreadd", kernel=True)
# In a container's own PID namespace it is another.
CONTAINED = running(2, "bash")
