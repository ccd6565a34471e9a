"""Which distribution a host has, and so how its kernel gets its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from plimsoll.tune.host.view.host_view import HostView

# os-release(5): the first that exists counts.
OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
# Who changes the kernel's command line for good; "operator" is OpenShift's Machine Config
# Operator, which puts back what others change.
BootTool = Literal["grubby", "update-grub", "rpm-ostree", "operator"]

_FIELDS = ("ID", "ID_LIKE", "VARIANT_ID", "OPENSHIFT_VERSION")
_LINE = re.compile(r"^([A-Z_]+)=[\"']?([\w.: -]{0,80}?)[\"']?[ \t]*$", re.ASCII | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class OperatingSystem:
    """`families` are the distribution's own name and those of its kin, the closest first."""

    families: tuple[str, ...]
    variant: str
    openshift: bool

    @property
    def boot_tool(self) -> BootTool | None:
        """What its administrators change the kernel's command line with; None where unknown."""
        if self.openshift:
            return "operator"
        if self.variant == "coreos":
            return "rpm-ostree"
        if {"rhel", "fedora"} & set(self.families):
            return "grubby"
        return "update-grub" if {"debian", "ubuntu"} & set(self.families) else None


def read_operating_system(view: HostView) -> OperatingSystem | None:
    """None where the host does not tell."""
    for path in OS_RELEASE:
        if text := view.read(path):
            return _parsed(dict(_fields(text)))
    return None


def identifying_lines(text: str) -> str:
    """Of an os-release file the lines that are read here."""
    return "\n".join(f'{name}="{value}"' for name, value in _fields(text))


def _fields(text: str) -> Iterator[tuple[str, str]]:
    yield from (found for found in _LINE.findall(text) if found[0] in _FIELDS)


def _parsed(fields: Mapping[str, str]) -> OperatingSystem:
    """RHEL CoreOS calls itself rhcos up to OpenShift 4.18, and rhel since; OPENSHIFT_VERSION
    tells it from RHEL (github.com/Mellanox/doca-driver-build, pull request 99).
    """
    name = fields.get("ID", "")
    return OperatingSystem(
        families=(name, *fields.get("ID_LIKE", "").split()),
        variant=fields.get("VARIANT_ID", ""),
        openshift=name == "rhcos" or "OPENSHIFT_VERSION" in fields,
    )


CPUINFO = "/proc/cpuinfo"
_FLAGS = re.compile(r"^flags\s*:(.*)$", re.MULTILINE)


def is_virtual_machine(view: HostView) -> bool:
    """Whether the CPUs report a hypervisor (CPUID leaf 1, ECX bit 31; the flag "hypervisor").

    Only x86 says so: others count as machines. Raises CannotRead.
    """
    flags = _FLAGS.search(view.need(CPUINFO))
    return flags is not None and "hypervisor" in flags[1].split()
