"""A generator before it is started: what it can do, what it needs, and how it is started."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from plimsoll.generator.interface import FrameFault, Generator
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.traffic.plan import PacingKind, StreamPlan


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What each generator of a kind can do, whatever its settings.

    A trial has at most `most_streams` streams, counted as they are sent, each of them at
    `least_pps` to `most_pps` and by one of the `pacings`. `latency` is whether it times the
    frames of latency streams, `load_latency` whether those of load streams as well; `faults`
    are those of frames that it tells apart from losses. `churn` is whether its flows can make
    room for new ones, `per_flow` whether it counts by flow. `rings` is whether it can be measured
    alone, over DPDK's ring ports; such measurements are kept for later runs. `summary` is a line
    for people, on what it is and what it lacks.
    `captures` is whether it writes what ports receive to files (`TrialPlan.captures`),
    `links` whether it takes the links of ports down and brings them up, where their drivers can.
    `live` is whether rates may change while it sends; it is then a `LiveGenerator`. `program`
    is the process whose loops poll, by its name in the ledger and in what observers read;
    None where no loop polls on this host. A `simulated` one computes its DUT as well: it sends
    nothing, and needs nothing of the host.
    """

    most_streams: int
    least_pps: float
    most_pps: float
    pacings: frozenset[PacingKind]
    latency: bool
    load_latency: bool = False
    faults: frozenset[FrameFault] = frozenset()
    rings: bool = False
    live: bool = False
    captures: bool = False
    links: bool = False
    program: str | None = None
    simulated: bool = False
    churn: bool = False
    per_flow: bool = False
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a generator is started with.

    It is to open the ports `devargs`, whose queues hold `descriptors` each way, for frames
    of up to `max_frame_bytes` without FCS, and to wait up to `link_wait_s` for their links.
    What it starts or changes on this host goes into the `ledger` first; None where nothing
    of the host is used. Threads that do not poll stay on `main_cpus`.
    """

    devargs: tuple[str, ...]
    descriptors: int
    max_frame_bytes: int
    link_wait_s: float
    ledger: Ledger | None
    main_cpus: Collection[int] = ()
    require_hugepages: bool = False


@dataclass(frozen=True, slots=True)
class CpuWork:
    """What one polling loop does in a trial: the streams that it sends, by name, and the ports
    that it receives from.
    """

    cpu: int
    sends: tuple[str, ...]
    receives_from: tuple[int, ...]


class GeneratorPlan(ABC):
    """A generator with its settings, not yet started."""

    capabilities: ClassVar[Capabilities]

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """The CPUs that its loops keep busy on this host, each with its place in the settings.

        In the order given, which may decide what each loop does.
        """
        return ()

    def check_ports(self, port_count: int) -> None:
        """Raise InputError, naming the field, where it cannot drive so many ports."""
        return

    def streams_sent(
        self, streams: tuple[StreamPlan, ...], port_count: int
    ) -> tuple[StreamPlan, ...]:
        """The streams as it sends them, where it splits some, as over a port's queues.

        Raises InputError as `check_ports` does.
        """
        self.check_ports(port_count)
        return streams

    def cpu_work(self, streams: tuple[StreamPlan, ...], port_count: int) -> tuple[CpuWork, ...]:
        """Of each of the `polled_cpus`. Raises InputError as `check_ports` does."""
        self.check_ports(port_count)
        return ()

    def on_rings(self) -> GeneratorPlan:
        """The same on ring ports, for one that can be measured alone (`Capabilities.rings`)."""
        return self

    @abstractmethod
    def start(self, launch: Launch) -> Generator:
        """Start it and open its ports; whatever fails leaves nothing running.

        Raises InputError, MachineError, GeneratorRefused and GeneratorDied.
        """


class GeneratorModel(BaseModel, GeneratorPlan):
    """The settings of one kind of generator, as written in an experiment under `generator`.

    A subclass adds `kind: Literal[...]`, states its `capabilities`, and starts it. Its module
    names it as GENERATOR.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def lacking(cls) -> tuple[str, ...]:
        """What this machine lacks for it, whatever its settings, in words with the remedy."""
        return ()
