"""What of this machine a lab may change and has to give back, by name."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
# Folders whose entries are of programs that labs start, with what others keep in them.
_FOLDERS = {
    "/run/netns": None,
    "/run/dpdk": None,
    "/var/run/openvswitch": None,
    "/dev/hugepages": None,
    "/dev/shm": None,
    "/sys/kernel/tracing/instances": None,
    "/sys/fs/resctrl": r"mon_data|mon_groups|info",
    "/tmp": r"pytest-of-.*",
}


def machine_state(mark: str) -> frozenset[str]:
    """A line for each thing; of processes those whose environment has the mark."""
    parts = (_interfaces(), _namespaces(), _mounts(), _processes(mark), _files(), _settings())
    return frozenset(line for part in parts for line in part)


def _interfaces() -> Iterator[str]:
    shown = subprocess.run(["ip", "-json", "link"], capture_output=True, check=True)
    for each in json.loads(shown.stdout):
        yield f"interface {each['ifname']} ({'up' if 'UP' in each['flags'] else 'down'})"


def _namespaces() -> Iterator[str]:
    """Those of running processes: a namespace without a name lives as long as one does."""
    for kind in ("net", "mnt"):
        for process in _PROC.glob("[0-9]*"):
            try:
                yield f"{kind} namespace {(process / 'ns' / kind).readlink()}"
            except OSError:
                continue


def _mounts() -> Iterator[str]:
    for line in (_PROC / "self/mounts").read_text().splitlines():
        device, place, *_ = line.split()
        yield f"mount of {device} on {place}"


def _processes(mark: str) -> Iterator[str]:
    for process in _PROC.glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            ours = mark.encode() in (process / "environ").read_bytes()
        except OSError:
            continue
        if words and ours:
            yield f"process {process.name}: {words.strip()}"


def _files() -> Iterator[str]:
    for folder, others in _FOLDERS.items():
        for path in Path(folder).glob("*"):
            if others is None or not re.fullmatch(others, path.name):
                yield f"file {path}"


def _settings() -> Iterator[str]:
    for pool in Path("/sys/kernel/mm/hugepages").glob("*/nr_hugepages"):
        yield f"hugepages {pool.parent.name}: {pool.read_text().strip()}"
    for name in ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"):
        path = _PROC / "sys" / name
        if path.exists():
            yield f"{name}: {path.read_text().strip()}"
