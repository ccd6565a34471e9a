"""Sets of CPUs as files of the kernel hold them: lists ("0-3,8") and masks ("ff,00000000")."""

from __future__ import annotations

import re
from collections.abc import Collection

from plimsoll.errors import InputError
from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread

# The kernel prints groups of 32 bits; it reads groups of up to 8 digits.
_GROUP = re.compile(r"[0-9a-fA-F]{1,8}", re.ASCII)
_GROUP_BITS = 32
# 8192 CPUs, the kernel's own bound on x86-64.
_MAX_GROUPS = 256


def parse_cpu_mask(text: str) -> frozenset[int]:
    """The CPUs of a mask of hexadecimal groups, highest first, "0x" allowed before it.

    Raises ValueError for anything else.
    """
    groups = text.strip().removeprefix("0x").split(",")
    if len(groups) > _MAX_GROUPS or not all(_GROUP.fullmatch(group) for group in groups):
        raise ValueError(f"{text!r} is not a CPU mask")
    bits = 0
    for group in groups:
        bits = bits << _GROUP_BITS | int(group, 16)
    return frozenset(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def format_cpu_mask(cpus: Collection[int]) -> str:
    """The mask as the kernel takes it: {0, 33} is "2,00000001"."""
    bits = sum(1 << cpu for cpu in set(cpus))
    groups = [f"{bits & 0xFFFFFFFF:x}"]
    while bits := bits >> _GROUP_BITS:
        groups = [f"{bits & 0xFFFFFFFF:x}", groups[0].zfill(8), *groups[1:]]
    return ",".join(groups)


def read_cpu_list(view: HostView, path: str) -> frozenset[int]:
    """The CPUs of a file that holds a list, none where it is empty. Raises CannotRead."""
    text = view.need(path)
    # What the kernel prints for nohz_full where no CPU is.
    if text in ("", "(null)"):
        return frozenset()
    try:
        return frozenset(parse_cpu_list(text))
    except InputError as error:
        raise CannotRead(Unread(path, "unreadable", error.message)) from None


def read_cpu_mask(view: HostView, path: str) -> frozenset[int]:
    """The CPUs of a file that holds a mask. Raises CannotRead."""
    text = view.need(path)
    try:
        return parse_cpu_mask(text)
    except ValueError as error:
        raise CannotRead(Unread(path, "unreadable", str(error))) from None


def name_cpus(cpus: Collection[int], adjective: str = "") -> str:
    """ "CPU 1", "CPUs 2-5,8", or with an adjective "isolated CPUs 2-5,8"."""
    noun = "CPU" if len(set(cpus)) == 1 else "CPUs"
    return " ".join(word for word in (adjective, noun, format_cpu_list(cpus)) if word)
