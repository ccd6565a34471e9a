"""The files in procfs of a process of a composed host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.host.cpus import parse_cpu_list

# proc_pid_stat(5), counted from the state, its third field: flags, rt_priority, policy.
_FLAGS, _PRIORITY, _POLICY = 9 - 3, 40 - 3, 41 - 3
_FIELDS = 52 - 2
# linux/sched.h: PF_KTHREAD, SCHED_OTHER and SCHED_FIFO.
_PF_KTHREAD = 0x00200000
_POLICIES = {"other": 0, "fifo": 1}


def process_files(process: Mapping[str, Any]) -> dict[str, str]:
    """Of `pid`, `name`, `cpus`, `group`, `policy`, `priority`, `kernel`, and `threads` of its own.

    With `each`, a list of CPUs, there is one process for each, its pid that much higher, and
    "{n}" in its name and CPUs is the CPU.
    """
    files: dict[str, str] = {}
    for one in _every(process):
        pid = one["pid"]
        folder = f"/proc/{pid}"
        files[f"{folder}/stat"] = _stat(pid, one)
        files[f"{folder}/cgroup"] = f"0::{one.get('group', '/')}"
        for thread in (one, *one.get("threads", [])):
            tid = thread.get("tid", pid)
            files[f"{folder}/task/{tid}/stat"] = _stat(tid, {**one, **thread})
            files[f"{folder}/task/{tid}/status"] = status(thread["name"], str(thread["cpus"]))
    return files


def status(name: str, cpus: str) -> str:
    """The two lines of a status file that say who it is and where it may run."""
    return f"Name:\t{name}\nCpus_allowed_list:\t{cpus}"


def _every(process: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "each" not in process:
        yield dict(process)
        return
    for cpu in parse_cpu_list(process["each"]):
        named = {key: process[key].replace("{n}", str(cpu)) for key in ("name", "cpus")}
        yield {**process, **named, "pid": process["pid"] + cpu}


def _stat(number: int, thread: Mapping[str, Any]) -> str:
    fields = ["S", *["0"] * (_FIELDS - 1)]
    fields[_FLAGS] = str(_PF_KTHREAD if thread.get("kernel") else 0)
    fields[_PRIORITY] = str(thread.get("priority", 0))
    fields[_POLICY] = str(_POLICIES[thread.get("policy", "other")])
    return f"{number} ({thread['name']}) {' '.join(fields)}"
