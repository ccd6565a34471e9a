"""The kernel's resctrl file system: Intel's RDT and AMD's QoS, as it says of itself.

Documentation/filesystems/resctrl.rst of Linux (before 6.16: Documentation/arch/x86/resctrl.rst)
says what each file means.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.text.counted import counted

_USUAL = "/sys/fs/resctrl"
# Directories at the top that are no groups.
_NO_GROUPS = frozenset({"info", "mon_data", "mon_groups"})
# In a group's `mode`: its ways are locked, and the hardware's class (CLOSID) is free again.
_PSEUDO_LOCKED = "pseudo-locked"
LEAVE_OUT = "or leave the section out: --set resctrl=null"


@dataclass(frozen=True, slots=True)
class CacheResource:
    """What `info` says of one cache: masks as numbers, `usage` by cache id as annotated there.

    A character of `usage` is a way, the highest first: E exclusive, P pseudo-locked, and others.
    """

    cbm_mask: int
    min_cbm_bits: int
    shareable_bits: int
    # Whether masks may have gaps.
    sparse: bool
    usage: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class BandwidthResource:
    """What `info/MB` says: `unit_bytes_per_s` is None where shares are given, in percent."""

    min_bandwidth: int
    granularity: int
    unit_bytes_per_s: float | None


class Resctrl:
    """One mounted resctrl. `options` are those of the mount, `vendor` the CPU's vendor_id."""

    def __init__(self, root: Path, options: frozenset[str] = frozenset(), vendor: str = "") -> None:
        self.root = root
        self.options = options
        self.vendor = vendor

    @classmethod
    def find(cls, proc: Path = Path("/proc")) -> Resctrl:
        """Where it is mounted. Raises MachineError saying why not, and how to mount it."""
        for line in (proc / "mounts").read_text(errors="replace").splitlines():
            words = line.split()
            if len(words) > 3 and words[2] == "resctrl":
                return cls(Path(words[1]), frozenset(words[3].split(",")), _vendor(proc))
        raise _not_mounted(proc)

    # --- What it has -------------------------------------------------------

    @cached_property
    def caches(self) -> Mapping[str, CacheResource]:
        """By the resource's name, L3 or L3CODE and L3DATA, those that can be allocated."""
        found = (folder for folder in self._info_folders() if (folder / "cbm_mask").exists())
        return {folder.name: self._cache(folder) for folder in found}

    @cached_property
    def bandwidth(self) -> BandwidthResource | None:
        """Of memory; None where it cannot be allocated."""
        folder = self.root / "info" / "MB"
        if not (folder / "min_bandwidth").exists():
            return None
        return BandwidthResource(
            int(_read(folder / "min_bandwidth")),
            int(_read(folder / "bandwidth_gran")),
            self._bandwidth_unit(),
        )

    def domains(self, resource: str) -> tuple[int, ...]:
        """The ids of the caches of which the resource is stated."""
        return tuple(parse_schemata(self.read("schemata")).get(resource, {}))

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups that there are, without the default one."""
        return tuple(
            entry.name
            for entry in sorted(self.root.iterdir())
            if entry.is_dir() and entry.name not in _NO_GROUPS
        )

    @property
    def most_groups(self) -> int | None:
        """How many there may be, the default one among them; None where nothing is allocated."""
        counts = [folder / "num_closids" for folder in self._info_folders()]
        # The kernel goes by the least of all resources.
        return min((int(_read(count)) for count in counts if count.exists()), default=None)

    @property
    def groups_that_count(self) -> tuple[str, ...]:
        """Those that keep one of the hardware's classes of service."""
        names = self.group_names
        return tuple(name for name in names if self._mode(name) != _PSEUDO_LOCKED)

    def cpus_of(self, group: str) -> frozenset[int]:
        """The CPUs that a group owns."""
        listed = self.read(f"{group}/cpus_list")
        return frozenset(parse_cpu_list(listed)) if listed else frozenset()

    def _info_folders(self) -> list[Path]:
        return [folder for folder in sorted((self.root / "info").iterdir()) if folder.is_dir()]

    def _mode(self, group: str) -> str:
        file = self.root / group / "mode"
        return _read(file) if file.exists() else ""

    def _cache(self, folder: Path) -> CacheResource:
        shareable, sparse = folder / "shareable_bits", folder / "sparse_masks"
        usage = folder / "bit_usage"
        return CacheResource(
            cbm_mask=int(_read(folder / "cbm_mask"), 16),
            min_cbm_bits=int(_read(folder / "min_cbm_bits")),
            shareable_bits=int(_read(shareable), 16) if shareable.exists() else 0,
            # Since Linux 6.7 the kernel says it; before, AMD's masks alone could have gaps.
            sparse=_read(sparse) == "1" if sparse.exists() else self._is_amd,
            usage=_by_cache(_read(usage)) if usage.exists() else {},
        )

    def _bandwidth_unit(self) -> float | None:
        """What a number in MB's schemata is, in B/s."""
        if "mba_MBps" in self.options:
            # The kernel compares with bytes shifted by 20.
            return float(1 << 20)
        return 1e9 / 8 if self._is_amd else None

    @property
    def _is_amd(self) -> bool:
        return self.vendor in ("AuthenticAMD", "HygonGenuine")

    # --- Files and groups --------------------------------------------------

    def read(self, name: str) -> str:
        """A file's text, without its line end. Raises OSError."""
        return _read(self.root / name)

    def write(self, name: str, text: str) -> None:
        """One line into a file, which is one command to the kernel. Raises OSError."""
        descriptor = os.open(self.root / name, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"{text}\n".encode())
        finally:
            os.close(descriptor)

    def make(self, group: str) -> None:
        """A new group, which takes one of the hardware's classes of service. Raises OSError."""
        (self.root / group).mkdir()

    def remove(self, group: str) -> bool:
        """Its CPUs and tasks are the default group's again; False where it was gone already.

        Raises OSError.
        """
        try:
            (self.root / group).rmdir()
        except FileNotFoundError:
            return False
        return True

    def last_status(self) -> str:
        """What the kernel says of the last command; "" where it says nothing."""
        try:
            said = self.read("info/last_cmd_status")
        except OSError as error:
            return "" if error.errno == errno.ENOENT else str(error)
        return "" if said == "ok" else said


def parse_schemata(text: str) -> dict[str, dict[int, str]]:
    """The values by resource and cache id, as they stand there.

    >>> parse_schemata("    MB:0=2048;1=  16\\n    L3:0=ffff;1=00ff")
    {'MB': {0: '2048', 1: '16'}, 'L3': {0: 'ffff', 1: '00ff'}}

    Raises ValueError for anything else.
    """
    lines = (line.partition(":") for line in text.splitlines() if line.strip())
    return {resource.strip(): _by_cache(values) for resource, _, values in lines}


def _by_cache(values: str) -> dict[int, str]:
    pairs = (each.partition("=") for each in values.strip().split(";") if each)
    return {int(cache): value.strip() for cache, _, value in pairs}


def _read(path: Path) -> str:
    return path.read_text().strip()


def _vendor(proc: Path) -> str:
    for line in (proc / "cpuinfo").read_text(errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "vendor_id":
            return value.strip()
    return ""


def _not_mounted(proc: Path) -> MachineError:
    known = (proc / "filesystems").read_text().split()
    if "resctrl" not in known:
        return MachineError(
            "this machine offers no resctrl: its CPU, or the virtual machine's, has neither "
            "Intel's RDT nor AMD's QoS, or the kernel lacks CONFIG_X86_CPU_RESCTRL",
            where="resctrl",
            remedy=f"run on a machine whose /proc/cpuinfo has rdt_a, {LEAVE_OUT}",
        )
    return MachineError(
        "resctrl is not mounted",
        where="resctrl",
        remedy=f"as root: mount -t resctrl resctrl {_USUAL} (with -o cdp for L3CODE and L3DATA, "
        f"-o mba_MBps for bandwidth in bytes a second), {LEAVE_OUT}",
    )


@dataclass(frozen=True, slots=True)
class ResctrlOffer:
    """What can be allocated, by the kernel's names of the resources, to how many groups.

    `problem` is why nothing can be, None where something can.
    """

    resources: tuple[str, ...] = ()
    free_groups: int = 0
    problem: str | None = None

    def in_words(self) -> str:
        """On a line: "usable: L3 (20 ways), MB; 14 groups free"."""
        if self.problem is not None:
            return f"not usable: {self.problem}"
        groups = counted(self.free_groups, "group")
        return f"usable: {', '.join(self.resources)}; {groups} free"


def resctrl_offer(find: Callable[[], Resctrl] = Resctrl.find) -> ResctrlOffer:
    """Looked at, and nothing changed."""
    try:
        resctrl = find()
    except MachineError as error:
        remedy = (error.remedy or "").removesuffix(f", {LEAVE_OUT}")
        return ResctrlOffer(problem=f"{error.message} ({remedy})")
    most = resctrl.most_groups
    if most is None:
        return ResctrlOffer(problem=f"{resctrl.root} monitors alone: the CPU has no CAT or MBA")
    if not os.access(resctrl.root, os.W_OK):
        reason = f"this user may not make groups in {resctrl.root} (run as root)"
        return ResctrlOffer(problem=reason)
    # The default group has one.
    free = most - 1 - len(resctrl.groups_that_count)
    if free <= 0:
        return ResctrlOffer(problem=f"all {most} classes of service have their groups already")
    return ResctrlOffer(_resources(resctrl), free)


def _resources(resctrl: Resctrl) -> tuple[str, ...]:
    caches = tuple(
        f"{name} ({counted(cache.cbm_mask.bit_count(), 'way')})"
        for name, cache in resctrl.caches.items()
    )
    return caches if resctrl.bandwidth is None else (*caches, "MB")
