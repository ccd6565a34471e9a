"""Where processes stand in the trees of control groups, version 1 and 2, and whose pod it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from plimsoll.tune.host.cpus.cpu_sets import read_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread

CGROUP_READS = ("/proc/[0-9]*/cgroup",)
_ROOT = "/sys/fs/cgroup"
CPUSET_READS = (
    *CGROUP_READS,
    f"{_ROOT}/**/cpuset.cpus.effective",
    f"{_ROOT}/**/cpuset.cpus",
)

Qos = Literal["guaranteed", "burstable", "besteffort"]

# The kubelet's names by the two cgroup drivers: kubepods-burstable-pod<uid>.slice of systemd,
# which has "_" for "-" in the uid, and kubepods/burstable/pod<uid> of cgroupfs.
_POD = re.compile(
    r"/kubepods(?:\.slice)?(?:/(?:kubepods-)?(burstable|besteffort)(?:\.slice)?)?"
    r"/(?:kubepods-(?:burstable-|besteffort-)?)?pod([0-9a-f][0-9a-f_-]{7,63})(?:\.slice)?(?=/|$)"
)


@dataclass(frozen=True, slots=True)
class PodOfGroup:
    """A pod by its uid, with dashes, and the class of service that the kubelet put it in."""

    uid: str
    qos: Qos


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """A control group of a controller: its `path` in the tree mounted at `root`."""

    root: str
    path: str
    version: Literal[1, 2]

    @property
    def directory(self) -> str:
        """Where its files lie."""
        return self.root if self.path == "/" else f"{self.root}{self.path}"

    @property
    def pod(self) -> PodOfGroup | None:
        """The pod it is of; None for a process of the host."""
        return pod_of(self.path)

    def with_ancestors(self) -> Iterator[ControlGroup]:
        """It and all groups above it, the root last."""
        names = self.path.strip("/").split("/") if self.path != "/" else []
        for count in range(len(names), -1, -1):
            yield ControlGroup(self.root, "/" + "/".join(names[:count]), self.version)


def group_of(view: HostView, pid: int, controller: str) -> ControlGroup:
    """The group in which a process is for `controller`, "cpu" or "cpuset". Raises CannotRead."""
    where = f"/proc/{pid}/cgroup"
    unified: str | None = None
    for line in view.need(where).splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not path.startswith("/") or ".." in path.split("/"):
            # A leading /.. is a group outside the reader's own cgroup namespace.
            raise CannotRead(Unread(where, "unreadable", "seen from another cgroup namespace"))
        if controller in controllers.split(","):
            return ControlGroup(f"{_ROOT}/{controllers}", path, 1)
        if number == "0" and not controllers:
            unified = path
    if unified is None:
        raise CannotRead(Unread(where, "unreadable", f"names no group of {controller}"))
    return ControlGroup(_ROOT, unified, 2)


def pod_of(path: str) -> PodOfGroup | None:
    """The pod whose group, or a part of it, lies at `path`."""
    found = _POD.search(path)
    if found is None:
        return None
    qos: Qos = "guaranteed"
    if found[1] in ("burstable", "besteffort"):
        qos = "burstable" if found[1] == "burstable" else "besteffort"
    return PodOfGroup(found[2].replace("_", "-"), qos)


def cpuset_of(view: HostView, pid: int) -> tuple[str, frozenset[int]]:
    """(file, CPUs): those that a process's group may use at all. Raises CannotRead."""
    group = group_of(view, pid, "cpuset")
    name = "cpuset.cpus.effective" if group.version == 2 else "cpuset.cpus"
    path = f"{group.directory}/{name}"
    return path, read_cpu_list(view, path)


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
