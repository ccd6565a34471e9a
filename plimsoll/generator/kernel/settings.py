"""The kernel as the generator of an experiment, by trafgen of netsniff-ng."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import ClassVar, Literal

from pydantic import Field

from plimsoll.generator.generator_plan import Capabilities, CpuWork, GeneratorModel, Launch
from plimsoll.generator.kernel.generator import SENDING_TRAFGEN, TRAFGEN, TrafgenSender
from plimsoll.generator.kernel.written_frames import written_frames
from plimsoll.generator.port_streams import check_one_a_port, check_plain, interface_of
from plimsoll.host.namespaces.ip_command import find_program
from plimsoll.traffic.plan import StreamPlan

PACKAGE = "netsniff-ng"
_VERSION_TIMEOUT_S = 20.0


class TrafgenSettings(GeneratorModel):
    """trafgen on the interfaces of a lab behind the kernel's ports, as a floor.

    Each of the `cpus` has the senders of every n-th port.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        most_streams=16,
        least_pps=1.0,
        most_pps=1e6,
        pacings=frozenset({"constant", "back-to-back"}),
        latency=False,
        program=SENDING_TRAFGEN,
        summary="trafgen through packet sockets: a floor, losses by interface counters",
    )

    kind: Literal["kernel"] = "kernel"
    cpus: tuple[int, ...] = Field(default=(0,), min_length=1, max_length=16)

    @classmethod
    def lacking(cls) -> tuple[str, ...]:
        """The program."""
        return () if shutil.which(TRAFGEN) else (f"{TRAFGEN}: install {PACKAGE}",)

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """As set: unpaced, a sender never sleeps."""
        return tuple((f"generator.cpus[{i}]", cpu) for i, cpu in enumerate(self.cpus))

    def streams_sent(
        self, streams: tuple[StreamPlan, ...], port_count: int
    ) -> tuple[StreamPlan, ...]:
        """The same. Raises InputError for what trafgen is not given."""
        check_one_a_port(streams, TRAFGEN)
        for each in streams:
            check_plain(each, TRAFGEN)
            next(written_frames(each))
        return streams

    def cpu_work(self, streams: tuple[StreamPlan, ...], port_count: int) -> tuple[CpuWork, ...]:
        """The senders of the ports; the kernel receives where it likes."""
        return tuple(
            CpuWork(
                cpu,
                tuple(each.name for each in streams if each.tx_port % len(self.cpus) == index),
                (),
            )
            for index, cpu in enumerate(self.cpus)
        )

    def start(self, launch: Launch) -> TrafgenSender:
        """Find the program and the interfaces; nothing is started before a trial."""
        if launch.ledger is None:
            raise ValueError("trafgen needs a ledger")
        netdevs = tuple(interface_of(each) for each in launch.devargs)
        program = find_program(TRAFGEN, PACKAGE)
        return TrafgenSender(netdevs, self.cpus, launch.ledger, _version(program))


def _version(program: str) -> str:
    said = subprocess.run(  # noqa: S603 - an argument vector, no shell
        (program, "--version"),
        capture_output=True,
        text=True,
        check=False,
        timeout=_VERSION_TIMEOUT_S,
    )
    found = re.search(r"trafgen (\d\S*)", said.stdout + said.stderr)
    return found[1].rstrip(",") if found else ""


GENERATOR = TrafgenSettings
