"""Who has hugepages mapped, as far as procfs tells everybody."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.tune.host.cpus.threads import THREAD_READS, read_processes
from plimsoll.tune.host.view.host_view import HostView

HOLDER_READS = THREAD_READS
# proc_pid_status(5), since Linux 4.4: of all sizes and nodes, shared mappings too.
_MAPPED = re.compile(r"^HugetlbPages:\s+(\d{1,12}) kB$", re.ASCII | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Holder:
    """A process with `kib` of hugepages in its page tables."""

    pid: int
    comm: str
    kib: int


def read_holders(view: HostView) -> tuple[Holder, ...]:
    """The largest first. Raises CannotRead where not all processes can be seen."""
    found: list[Holder] = []
    for process in read_processes(view):
        text = view.read(f"/proc/{process.pid}/task/{process.pid}/status") or ""
        mapped = _MAPPED.search(text)
        if mapped and int(mapped[1]):
            found.append(Holder(process.pid, process.comm, int(mapped[1])))
    return tuple(sorted(found, key=lambda each: (-each.kib, each.pid)))
