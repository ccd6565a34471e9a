"""Which cgroups processes are in, and where those are mounted: v1, v2, or both at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plimsoll.observe.reading.host_files import HostFiles, read_text
from plimsoll.observe.reading.observer import Observation

# The hierarchy of cgroup v2 among those of v1's controllers, which have their names.
V2 = ""
_V1 = "cgroup"
_TYPES = {_V1, "cgroup2"}
# The agent's own process, as procfs and as the record call it.
_SELF = ("agent", "self")
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class WatchedCgroup:
    """A cgroup of watched processes, or one above theirs."""

    path: str
    directory: Path
    # The names of those in it or below it, with spaces between them.
    processes: str

    @property
    def names(self) -> Mapping[str, str]:
        """The breakouts of its series."""
        return {"cgroup": self.path, "process": self.processes}


@dataclass(frozen=True, slots=True)
class _Hierarchy:
    # The cgroup that is mounted, "/" unless only a part is, and where.
    root: str
    directory: Path

    def find(self, path: str) -> Path | None:
        """The directory of a cgroup; None when it lies outside of what is mounted."""
        root, given = PurePosixPath(self.root), PurePosixPath(path)
        if ".." in given.parts or not given.is_relative_to(root):
            return None
        return self.directory / given.relative_to(root)


class CgroupTree:
    """The hierarchies of a host, and the cgroups of the processes under test in them."""

    def __init__(self, files: HostFiles, observation: Observation) -> None:
        """Look processes up; one that has ended by then is left out."""
        self._hierarchies: dict[str, _Hierarchy] = {}
        for controller, hierarchy in _hierarchies(files):
            # Parts of one may be mounted again later, for containers.
            self._hierarchies.setdefault(controller, hierarchy)
        pids = [_SELF, *((name, str(pid)) for name, pid in observation.pids.items())]
        self._paths = [(name, _paths(files, pid)) for name, pid in pids]

    def has(self, controller: str) -> bool:
        """Whether v1 has a hierarchy with this controller; then v2 has not."""
        return controller in self._hierarchies

    def watched(self, controller: str, limits: Callable[[Path], bool]) -> tuple[WatchedCgroup, ...]:
        """The cgroups of the processes, and those above them of which `limits` is true."""
        hierarchy = self._hierarchies.get(controller)
        if hierarchy is None:
            return ()
        names: dict[str, list[str]] = {}
        own = {paths[controller] for _, paths in self._paths if controller in paths}
        for name, paths in self._paths:
            for path in _with_ancestors(paths.get(controller)):
                names.setdefault(path, []).append(name)
        found = ((path, hierarchy.find(path)) for path in names)
        return tuple(
            WatchedCgroup(path, directory, " ".join(sorted(names[path])))
            for path, directory in found
            if directory is not None and (path in own or limits(directory))
        )


def _with_ancestors(path: str | None) -> Iterator[str]:
    if path is not None:
        pure = PurePosixPath(path)
        yield from (str(each) for each in (pure, *pure.parents))


def _paths(files: HostFiles, pid: str) -> dict[str, str]:
    """Of each hierarchy, by controller, the path of a process in it (cgroups(7))."""
    paths: dict[str, str] = {}
    for line in (read_text(files.proc / pid / "cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _hierarchies(files: HostFiles) -> Iterator[tuple[str, _Hierarchy]]:
    """Of each, by controller, where it is mounted (proc_pid_mountinfo(5))."""
    for line in (read_text(files.proc / "self/mountinfo") or "").splitlines():
        mount, _, filesystem = line.partition(" - ")
        kind, _, options = filesystem.split(" ", 2)
        if kind not in _TYPES:
            continue
        root, point = (_unescaped(field) for field in mount.split(" ")[3:5])
        hierarchy = _Hierarchy(root, _below_root(files, PurePosixPath(point)))
        # Of v1, the controllers are among the options of the superblock.
        for controller in options.split(",") if kind == _V1 else (V2,):
            yield controller, hierarchy


def _below_root(files: HostFiles, point: PurePosixPath) -> Path:
    """Mounted below /sys nearly everywhere, which may be a captured tree."""
    return files.sys / point.relative_to("/sys") if point.is_relative_to("/sys") else Path(point)


def _unescaped(field: str) -> str:
    """Spaces and backslashes are escaped in octal."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), field)
