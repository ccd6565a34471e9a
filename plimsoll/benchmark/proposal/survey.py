"""What a proposed experiment has to know of the host: CPUs, hugepages, ports, testpmd."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.errors import MachineError
from plimsoll.host.cpus import allowed_cpus, parse_cpu_list
from plimsoll.host.ledger.hugepage_claims import pools
from plimsoll.host.ports.machine_ports import HostAbilities, MachinePort, machine_ports
from plimsoll.tune.fit.topology import Topology, read_topology
from plimsoll.tune.host.view.live_host import LiveHost

_ISOLATED = "/sys/devices/system/cpu/isolated"


@dataclass(frozen=True)
class HostSurvey:
    """What there is, and what of it this process may use.

    `allowed` are the CPUs that it may run on. `free_megabytes` are those of hugepages that
    are free, `adds_hugepages` says whether a run could reserve more. `no_testpmd` is why the
    lab testpmd-memif cannot come up; None where it can.
    """

    topology: Topology
    isolated: frozenset[int]
    allowed: frozenset[int]
    free_megabytes: int
    adds_hugepages: bool
    ports: tuple[MachinePort, ...]
    no_testpmd: MachineError | None = None

    @property
    def usable(self) -> frozenset[int]:
        """The CPUs that are online and allowed."""
        return self.topology.online & self.allowed


def survey_host(
    root: Path = Path("/"),
    *,
    allowed: frozenset[int] | None = None,
    abilities: HostAbilities | None = None,
    environment: Mapping[str, str] = os.environ,
) -> HostSurvey:
    """Look at the host whose file system is at `root`, and change nothing.

    Raises MachineError where not even the CPUs can be read.
    """
    view = LiveHost(root)
    found = pools(root / "sys/kernel/mm/hugepages")
    isolated = (view.read(_ISOLATED) or "").strip()
    return HostSurvey(
        topology=read_topology(view.read),
        isolated=frozenset(parse_cpu_list(isolated)) if isolated else frozenset(),
        allowed=allowed_cpus() if allowed is None else allowed,
        free_megabytes=max((pool.free * pool.page_kb >> 10 for pool in found), default=0),
        adds_hugepages=any(os.access(pool.directory / "nr_hugepages", os.W_OK) for pool in found),
        ports=machine_ports(
            root / "sys", root / "proc/net", abilities=abilities, environment=environment
        ),
        no_testpmd=_why_no_testpmd(),
    )


def _why_no_testpmd() -> MachineError | None:
    try:
        TestpmdSettings().check_machine()
    except MachineError as error:
        return error
    return None
