"""libbpf, as far as it is used here: maps, programs given as instructions, and XDP.

The library is loaded when it is first used (ctypes); neither a compiler nor its headers are
needed. Descriptors belong to the caller. All functions raise MachineError where the library is
missing, and where the kernel refuses, with its reason.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Sequence
from functools import cache

from plimsoll.errors import MachineError

LIBRARY = "libbpf.so.1"
PACKAGE = "libbpf1 (Debian, Ubuntu) or libbpf (Fedora, RHEL)"

# Of linux/bpf.h: kinds of maps and programs.
PERCPU_ARRAY, DEVICE_MAP = 6, 14
_XDP_PROGRAM = 6
# Of linux/if_link.h.
XDP_GENERIC, XDP_NATIVE = 1 << 1, 1 << 2
_ONLY_IF_NONE_IS_THERE = 1 << 0
_KEY_BYTES = 4
# What the kernel allows GPL programs alone, this project's do not use.
_LICENSE = b"Apache-2.0"
_MAX_MAPS = 16
_REMEDIES = {
    errno.EPERM: "run as root, or with CAP_BPF, CAP_NET_ADMIN and CAP_SYS_ADMIN",
    errno.EOPNOTSUPP: "its driver has no XDP of its own: choose the generic mode",
    errno.EBUSY: "another XDP program is on the interface: take it off (ip link set … xdp off)",
}


class _ProgramInfo(ctypes.Structure):
    """The head of the kernel's struct bpf_prog_info, up to the ids of the maps."""

    _fields_ = (
        ("type", ctypes.c_uint32),
        ("id", ctypes.c_uint32),
        ("tag", ctypes.c_uint8 * 8),
        ("jited_prog_len", ctypes.c_uint32),
        ("xlated_prog_len", ctypes.c_uint32),
        ("jited_prog_insns", ctypes.c_uint64),
        ("xlated_prog_insns", ctypes.c_uint64),
        ("load_time", ctypes.c_uint64),
        ("created_by_uid", ctypes.c_uint32),
        ("nr_map_ids", ctypes.c_uint32),
        ("map_ids", ctypes.c_uint64),
    )


class _MapInfo(ctypes.Structure):
    """The head of the kernel's struct bpf_map_info, up to the name."""

    _fields_ = (
        ("type", ctypes.c_uint32),
        ("id", ctypes.c_uint32),
        ("key_size", ctypes.c_uint32),
        ("value_size", ctypes.c_uint32),
        ("max_entries", ctypes.c_uint32),
        ("map_flags", ctypes.c_uint32),
        ("name", ctypes.c_char * 16),
    )


def has_libbpf() -> bool:
    """Whether the library is installed."""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return False
    return True


def create_map(kind: int, name: str, value_bytes: int, entries: int) -> int:
    """The descriptor of a new map, whose keys are of 32 bits."""
    made = _libbpf().bpf_map_create(kind, name.encode(), _KEY_BYTES, value_bytes, entries, None)
    return _checked(made, f"make the BPF map {name}")


def set_entry(descriptor: int, key: int, value: int) -> None:
    """Set a value of 32 bits."""
    given = ctypes.byref(ctypes.c_uint32(key)), ctypes.byref(ctypes.c_uint32(value))
    set_it = _libbpf().bpf_map_update_elem(descriptor, *given, ctypes.c_uint64(0))
    _checked(set_it, "set an entry of a BPF map")


def sum_over_cpus(descriptor: int, key: int) -> int:
    """An entry of a per-CPU array of 64-bit counters, over all CPUs."""
    library = _libbpf()
    counts = (ctypes.c_uint64 * library.libbpf_num_possible_cpus())()
    given = ctypes.byref(ctypes.c_uint32(key)), counts
    _checked(library.bpf_map_lookup_elem(descriptor, *given), "read a BPF map")
    return sum(counts)


def load_xdp(name: str, instructions: Sequence[bytes]) -> int:
    """The descriptor of a program that the kernel has verified. Each instruction has 8 bytes."""
    code = b"".join(instructions)
    loaded = _libbpf().bpf_prog_load(
        _XDP_PROGRAM, name.encode(), _LICENSE, code, ctypes.c_size_t(len(code) // 8), None
    )
    return _checked(loaded, f"load the XDP program {name}")


def attach_xdp(interface: str, index: int, program: int, mode: int) -> None:
    """Put a program on an interface of the calling thread's namespace that has none.

    It stays for as long as the interface, no matter what loaded it.
    """
    flags = ctypes.c_uint32(mode | _ONLY_IF_NONE_IS_THERE)
    attached = _libbpf().bpf_xdp_attach(index, program, flags, None)
    _checked(attached, f"put an XDP program on {interface}")


def attached_program(index: int) -> int | None:
    """The id of the XDP program on an interface of the calling thread's namespace."""
    found = ctypes.c_uint32(0)
    queried = _libbpf().bpf_xdp_query_id(index, 0, ctypes.byref(found))
    _checked(queried, "ask for the XDP program of an interface")
    return found.value or None


def map_of_program(program: int, name: str) -> int | None:
    """The descriptor of the program's map of that name; None where it has none."""
    descriptor = _checked(_libbpf().bpf_prog_get_fd_by_id(program), f"open BPF program {program}")
    try:
        ids = (ctypes.c_uint32 * _MAX_MAPS)()
        info = _ProgramInfo(nr_map_ids=_MAX_MAPS, map_ids=ctypes.addressof(ids))
        _fill(descriptor, info)
    finally:
        os.close(descriptor)
    for number in ids[: min(info.nr_map_ids, _MAX_MAPS)]:
        found = _checked(_libbpf().bpf_map_get_fd_by_id(number), f"open BPF map {number}")
        described = _MapInfo()
        _fill(found, described)
        if described.name == name.encode():
            return found
        os.close(found)
    return None


def _fill(descriptor: int, info: ctypes.Structure) -> None:
    size = ctypes.c_uint32(ctypes.sizeof(info))
    given = ctypes.byref(info), ctypes.byref(size)
    _checked(_libbpf().bpf_obj_get_info_by_fd(descriptor, *given), "describe a BPF object")


@cache
def _libbpf() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise MachineError(
            f"{LIBRARY} is missing", where="libbpf", remedy=f"install the package {PACKAGE}"
        ) from error
    # What it would print is the caller's to say.
    library.libbpf_set_print(None)
    return library


def _checked(result: int, doing: str) -> int:
    """The result of a call; libbpf's are negative errnos."""
    if result >= 0:
        return result
    raise MachineError(
        f"the kernel refuses to {doing}: {os.strerror(-result)}",
        where="lab",
        remedy=_REMEDIES.get(-result, "use a kernel built with BPF and XDP, 5.12 or newer"),
    )
