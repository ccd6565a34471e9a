"""Quotas of CPU time on a control group and those above it, and how often one was used up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.tune.host.cpus.cgroups import CGROUP_READS, ControlGroup, group_of
from plimsoll.tune.host.view.host_view import HostView

_ROOT = "/sys/fs/cgroup"
QUOTA_READS = (
    *CGROUP_READS,
    f"{_ROOT}/**/cpu.max",
    f"{_ROOT}/**/cpu.cfs_quota_us",
    f"{_ROOT}/**/cpu.stat",
)
_THROTTLED = re.compile(r"^nr_throttled (\d+)$", re.MULTILINE)
_NONE = ("max", "-1")


@dataclass(frozen=True, slots=True)
class Quota:
    """`value` is the file's text, in version 2 with the period behind it.

    `throttled` counts the periods in which it was used up, since the group was made; None
    where that is not reported.
    """

    path: str
    value: str
    throttled: int | None

    @property
    def limits(self) -> bool:
        """Whether it is a quota at all: "max" and -1 are none."""
        return self.value.split()[:1] not in [[word] for word in _NONE]


def quotas_of(view: HostView, pid: int) -> Iterator[Quota]:
    """Of a process's group and each above it; the root has none. Raises CannotRead."""
    for group in group_of(view, pid, "cpu").with_ancestors():
        path = f"{group.directory}/{'cpu.max' if group.version == 2 else 'cpu.cfs_quota_us'}"
        value = view.find(path)
        if value:
            yield Quota(path, value, _throttled(view, group))


def _throttled(view: HostView, group: ControlGroup) -> int | None:
    found = _THROTTLED.search(view.find(f"{group.directory}/cpu.stat") or "")
    return int(found[1]) if found else None
