"""A cluster as `oc adm must-gather` found it: a directory or an archive of its objects.

The layout is that of `oc adm inspect` (openshift/oc at commit 6b8e30c5, pkg/cli/admin/inspect):
cluster-scoped-resources/GROUP/PLURAL/NAME.yaml, namespaces/NAMESPACE/GROUP/PLURAL/NAME.yaml,
PLURAL.yaml where a list was written whole, "core" for the first group, and pods once more as
namespaces/NAMESPACE/pods/NAME/NAME.yaml; a namespace itself is namespaces/NAME/NAME.yaml. All is
below a directory for each image that gathered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.text.given_path import look_at
from plimsoll.tune.cluster.kinds import ALL_KINDS, NAMESPACE, POD, Kind
from plimsoll.tune.cluster.object_judgement import ClusterView
from plimsoll.tune.host.archives.archived_files import (
    ArchiveBounds,
    PathFilter,
    archived_files,
    folder_files,
    size_text,
)
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.kubernetes.kube_object import KubeObject, full_name, name_of, parse_objects

_CLUSTER = "cluster-scoped-resources"
_NAMESPACES = "namespaces"
_CORE = "core"
_SUFFIX = ".yaml"
_KINDS = {(kind.group or _CORE, kind.plural): kind for kind in ALL_KINDS}
# What a kind of the whole cluster stands under, where others stand under their namespace.
_EVERYWHERE = ""
MAX_FILE_BYTES = 32 << 20
MAX_KEPT_BYTES = 256 << 20
_BOUNDS = ArchiveBounds(
    # A must-gather of hundreds of nodes.
    most_members=1_000_000,
    most_bytes=32 << 30,
    most_file_bytes=MAX_FILE_BYTES,
    # Names of more than 100 characters, which most are, take three blocks more than others.
    most_header_bytes=4 << 30,
    remedy="give the directory or archive that oc adm must-gather wrote",
)


@dataclass(frozen=True, slots=True)
class _Held:
    """Objects of one kind in one namespace; `broken` tells the first file that held none."""

    objects: dict[str, KubeObject] = field(default_factory=dict)
    broken: list[Unread] = field(default_factory=list)


class MustGather(ClusterView):
    """The objects that were gathered. What was not may still exist: that is unknown."""

    def __init__(self, files: Iterable[tuple[str, bytes]], where: str) -> None:
        self.where = where
        self._held: dict[tuple[Kind, str], _Held] = {}
        for path, content in files:
            self._take(path, content)

    @property
    def empty(self) -> bool:
        """Whether there is nothing that an audit reads."""
        return not self._held

    def listed(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...] | Unread:
        """Those gathered; an Unread where none of the kind were, or one is not an object."""
        if namespace is None:
            held = [each for (of, _), each in self._held.items() if of == kind]
        else:
            found = self._held.get((kind, namespace))
            held = [found] if found else []
        if not held:
            place = f"{kind.resource} in namespace {namespace}" if namespace else kind.resource
            return Unread(place, "not-captured")
        broken = [each for one in held for each in one.broken]
        if broken:
            return broken[0]
        return tuple(each for one in held for each in one.objects.values())

    def find(self, kind: Kind, name: str, namespace: str | None = None) -> KubeObject | None:
        """The object of that name; None where there is none. Raises CannotRead.

        Other objects are gathered by the list, but namespaces one by one, each with what is in
        it: one that is not there is unknown.
        """
        found = super().find(kind, name, namespace)
        if found is None and kind == NAMESPACE:
            raise CannotRead(Unread(f"namespace {name}", "not-captured"))
        return found

    def _take(self, path: str, content: bytes) -> None:
        place = _place(path)
        if place is None:
            return
        kind, namespace = place
        held = self._held.setdefault(place, _Held())
        try:
            objects = parse_objects(content)
        except ValueError as error:
            held.broken.append(Unread(path, "unreadable", str(error)))
            return
        for each in objects:
            if each.get("kind") == kind.name and _is_in(each, kind, namespace):
                # Two images may gather the same object; the first is as good.
                held.objects.setdefault(name_of(each), each)


def open_must_gather(path: Path) -> MustGather:
    """The cluster of a must-gather. Raises InputError if it is not one."""
    if look_at(path) is None:
        raise InputError("does not exist", where=str(path), remedy="check the path")
    found = MustGather(needed_files(path, lambda name: _place(name) is not None), str(path))
    if found.empty:
        raise InputError(
            f"holds no objects below {_CLUSTER} or {_NAMESPACES}",
            where=str(path),
            remedy="give the directory or archive that oc adm must-gather wrote",
        )
    return found


def _is_in(given: KubeObject, kind: Kind, namespace: str) -> bool:
    """Whether it says of itself that it is where its path says."""
    if not kind.namespaced:
        return True
    return full_name(given) == f"{namespace}/{name_of(given)}"


def _place(path: str) -> tuple[Kind, str] | None:
    """The kind and namespace of the objects in a file; None where an audit reads none there."""
    parts = path.split("/")
    if not path.endswith(_SUFFIX) or any(part in ("", ".", "..") for part in parts):
        return None
    for start, part in enumerate(parts):
        below = parts[start + 1 :]
        if part == _CLUSTER and len(below) in (2, 3):
            return _kind(below, _EVERYWHERE)
        if part == _NAMESPACES and len(below) in (3, 4):
            return _pod(below) or _kind(below[1:], below[0])
        if part == _NAMESPACES and len(below) == 2 and below[1] == f"{below[0]}{_SUFFIX}":
            return NAMESPACE, _EVERYWHERE
    return None


def _pod(below: list[str]) -> tuple[Kind, str] | None:
    """NAMESPACE/pods/NAME/NAME.yaml."""
    if len(below) == 4 and below[1] == POD.plural and below[3] == f"{below[2]}{_SUFFIX}":
        return POD, below[0]
    return None


def _kind(below: list[str], namespace: str) -> tuple[Kind, str] | None:
    """GROUP/PLURAL.yaml or GROUP/PLURAL/NAME.yaml."""
    plural = below[1].removesuffix(_SUFFIX) if len(below) == 2 else below[1]
    kind = _KINDS.get((below[0], plural))
    return None if kind is None or kind.namespaced != bool(namespace) else (kind, namespace)


# The files of a must-gather that an audit may want, out of a directory or an archive.
#
# Nothing is unpacked onto a disk and no link is followed. Of an archive only the requested
# members are kept; a must-gather is mostly logs, gigabytes of them.
def needed_files(path: Path, expected: PathFilter) -> Iterator[tuple[str, bytes]]:
    """(path within it, content) of each regular file whose path is `expected`.

    Directories give them in the order of their names, archives in their own. Raises InputError
    for what is neither, for an expected path that is a link or a device, and for more than a
    must-gather can need.
    """
    read = folder_files if path.is_dir() else archived_files
    kept = 0
    for name, content in read(path, _BOUNDS, expected):
        kept += len(content)
        if kept > MAX_KEPT_BYTES:
            raise _BOUNDS.refused(path, f"holds more than {size_text(MAX_KEPT_BYTES)} of objects")
        yield name, content
