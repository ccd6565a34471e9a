"""What a kind of lab needs of the machine, in words before anything is started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.namespaces.ip_command import IP_PACKAGE, find_program
from plimsoll.host.processes.privileges import effective_capabilities

# Making a namespace, entering it, and what lives in it.
NAMESPACE_CAPABILITIES = ("CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_ADMIN")


@dataclass(frozen=True, slots=True)
class NeededProgram:
    """A program on PATH or at a path, and the packages that have it."""

    name: str
    package: str

    @property
    def missing(self) -> bool:
        """Whether it is not installed."""
        return shutil.which(self.name) is None

    def find(self) -> str:
        """Its path. Raises MachineError naming the package where it is missing."""
        return find_program(self.name, self.package)


@dataclass(frozen=True, slots=True)
class Library:
    """A shared library, whether it `is_there`, and the packages that have it."""

    name: str
    package: str
    is_there: Callable[[], bool]

    @property
    def missing(self) -> bool:
        """Whether it is not installed."""
        return not self.is_there()

    def find(self) -> str:
        """Its name. Raises MachineError naming the package where it is missing."""
        if self.missing:
            raise MachineError(
                f"{self.name} is missing",
                where="lab",
                remedy=f"install the package {self.package}",
            )
        return self.name


IP = NeededProgram("ip", IP_PACKAGE)
TEE = NeededProgram("tee", "coreutils")


@dataclass(frozen=True, slots=True)
class LabNeeds:
    """What must be there: `kernel` are its features by their names, `cpus` those of the DUT.

    `hugepages` says whether the DUT takes some where there are any. `options` are what the
    kernel's build must have, `for_settings` what it must have for a setting ("vlan") to be used.
    """

    capabilities: tuple[str, ...] = ()
    kernel: tuple[str, ...] = ()
    programs: tuple[NeededProgram | Library, ...] = ()
    cpus: int = 0
    hugepages: bool = False
    options: tuple[KernelOption, ...] = ()
    for_settings: tuple[tuple[str, KernelOption], ...] = ()
    # Settings that need a program, and which.
    programs_of_settings: tuple[tuple[str, NeededProgram], ...] = ()
    # Settings with more polling loops of the DUT's than `cpus`, and how many.
    loops_of_settings: tuple[tuple[str, int], ...] = ()

    def in_words(self) -> str:
        """All of it, on a line: "root, kernel: veth, bridge; 1 CPU"."""
        parts = [
            "root" if self.capabilities else "",
            f"kernel: {', '.join(self.kernel)}" if self.kernel else "",
            f"{self.cpus} CPU{'s' if self.cpus > 1 else ''}" if self.cpus else "",
            "hugepages if it can have them" if self.hugepages else "",
            ", ".join(Path(program.name).name for program in self.programs),
        ]
        return "; ".join(part for part in parts if part) or "nothing"

    def missing(self) -> tuple[str, ...]:
        """What this machine and user lack of it, as far as can be seen without trying."""
        capabilities = set(self.capabilities) - effective_capabilities()
        programs = [each for each in self.programs if each.missing]
        cpus = len(os.sched_getaffinity(0))
        return (
            *sorted(capabilities),
            *(f"{Path(each.name).name} (package {each.package})" for each in programs),
            # The tester's loop needs one, too.
            *(f"kernel: {option}" for option in self.options if option.is_missing()),
            *((f"{self.cpus + 1} CPUs, of which this process may use {cpus}",) * self._short(cpus)),
        )

    def unavailable_settings(self) -> tuple[str, ...]:
        """Settings that this machine cannot serve, each with the reason."""
        return (
            *(
                f"{setting}: {option}"
                for setting, option in self.for_settings
                if option.is_missing()
            ),
            *(
                f"{setting}: {program.name} (package {program.package})"
                for setting, program in self.programs_of_settings
                if program.missing
            ),
        )

    def sharing_settings(self) -> tuple[str, ...]:
        """Settings whose polling loops must share CPUs here, each with what that means."""
        cpus = len(os.sched_getaffinity(0))
        return tuple(
            f"{setting}: {loops} loops of the DUT and one of the tester on {cpus} CPUs, which take "
            "turns: a functional test, no measurement"
            for setting, loops in self.loops_of_settings
            if cpus < loops + 1
        )

    def check(self) -> None:
        """Raise MachineError for the first capability, program or option that is missing."""
        lacking = sorted(set(self.capabilities) - effective_capabilities())
        if lacking:
            raise MachineError(
                f"this user may not set up this lab: it needs {', '.join(lacking)}",
                where="lab",
                remedy="run as root",
            )
        for program in self.programs:
            program.find()
        for option in self.options:
            check_option(option, "lab")

    def _short(self, cpus: int) -> bool:
        return bool(self.cpus) and cpus < self.cpus + 1


def check_option(option: KernelOption, where: str) -> None:
    """Raise MachineError placed at `where` if the kernel is known not to have it."""
    if option.is_missing():
        raise MachineError(
            f"this kernel has no {option}",
            where=where,
            remedy=f"boot a kernel that has it; where it is a module: modprobe {option.module}",
        )
