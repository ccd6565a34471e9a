"""What a lab is: the DUT and the ports that lead to it, brought up, watched, taken down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from plimsoll.dut.needs import LabNeeds
from plimsoll.errors import DUT_FAILED, MachineError, PlimsollError
from plimsoll.generator.simulated import Simulation
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, Lifetime, describe_exit, log_ending
from plimsoll.traffic.streams.compile import Paths

# Who empties the queue that the tester fills: decides whose fault a full queue is.
DrainedBy = Literal["dut", "wire", "tester"]
# Which links were lost since the watch began, each by a name for people ("interface eth1").
LinkWatch = Callable[[], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class LabPorts:
    """The ports that the tester opens, as DPDK devargs, and how frames travel between them.

    `queue_frames` is what a port's queue holds, each way; `line_rate_bps` is L1, None
    where there is no wire to limit the rate. `notes` are for readers of the results.
    """

    devargs: tuple[str, ...]
    descriptors: int
    queue_frames: int
    paths: Paths
    drained_by: DrainedBy
    line_rate_bps: float | None
    notes: tuple[str, ...] = ()

    def as_external(self) -> dict[str, object]:
        """The `lab` section of an experiment that uses these ports while the lab stands."""
        return {
            "kind": "external",
            "drained_by": self.drained_by,
            "descriptors": self.descriptors,
            "queue_frames": self.queue_frames,
            "paths": [list(path) for path in self.paths],
            "ports": [{"devargs": devargs} for devargs in self.devargs],
        }


@dataclass(frozen=True, slots=True)
class LineRate:
    """What is known of the line rate before anything is up: L1, None where there is no wire.

    Not `settled` where only the links of open ports will tell.
    """

    bps: float | None
    settled: bool = True


@dataclass(frozen=True, slots=True)
class DutPortCounters:
    """The DUT's own counters of one of its ports since it started."""

    port: int
    rx_frames: int
    tx_frames: int
    rx_missed: int
    rx_errors: int
    tx_errors: int
    rx_no_mbuf: int


@dataclass(frozen=True, slots=True)
class DutProcess:
    """A process of the DUT on this host, whose figures are read during trials.

    `telemetry` is the socket of DPDK's telemetry, `unixctl` that on which Open vSwitch is queried;
    None where it has none. `main_forwards` says that its main thread forwards, pinned to a CPU,
    and sleeps while no frame comes.
    """

    name: str
    pid: int
    telemetry: Path | None = None
    unixctl: Path | None = None
    main_forwards: bool = False


class LabDied(PlimsollError):
    """A process of the lab ended by itself.

    `exit_status` is its exit status, or minus the signal that killed it. A DUT that ends has
    failed, once it was up.
    """

    exit_code = DUT_FAILED

    def __init__(self, child: Child, exit_status: int) -> None:
        super().__init__(
            f"{child.name} (pid {child.pid}) {describe_exit(exit_status)}{log_ending(child.log)}",
            where="lab",
            remedy="fix what its log names, if anything, and start again",
        )
        self.process = child.name
        self.pid = child.pid
        self.exit_status = exit_status


@contextmanager
def coming_up() -> Iterator[None]:
    """A process that ends before its lab is up has failed no trial; the machine lacks something."""
    try:
        yield
    except LabDied as error:
        error.exit_code = MachineError.exit_code
        raise


class LinkGone(MachineError):
    """An interface that leads to the DUT is no longer there."""


class Lab(Protocol):
    """One lab. What it starts is entered in its ledger before it is used."""

    kind: str

    def up(self) -> LabPorts:
        """Start it. Raises InputError, MachineError or LabDied; then nothing is left running."""

    def wait_links(self, timeout_s: float) -> None:
        """Return once the DUT sees all its links up: called when the tester's ports are open.

        What exists from then on only, such as the interface of a net_tap port, is joined to the
        DUT here. Raises MachineError on timeout, LabDied.
        """

    def check(self) -> None:
        """Raise LabDied if one of its processes has ended, LinkGone if an interface has gone."""

    def watch_links(self) -> LinkWatch:
        """Begin to watch the links that the tester's own ports do not tell of.

        Both this and the watch raise LinkGone.
        """

    def counters(self) -> tuple[DutPortCounters, ...] | None:
        """The DUT's own counters by port; None where it has none that we may read."""

    def processes(self) -> tuple[DutProcess, ...]:
        """Those that run on this host; none where the DUT is not known to."""

    def facts(self) -> dict[str, object]:
        """What the environment record should say of it, as JSON."""

    def down(self) -> None:
        """Take it down; a process that dies on its own is not an error. May be repeated."""


class LabModel(BaseModel, ABC):
    """The settings of one kind of lab, as written in an experiment under `lab`.

    A subclass adds `kind: Literal[...]`, states what it is in `summary`, and makes the lab. Its
    module names it as LAB.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    summary: ClassVar[str]
    # Whether it can be kept up between commands (`plimsoll lab up`).
    can_stand: ClassVar[bool] = False
    # Why no command can reset its DUT while frames are sent; None where one can.
    cannot_reset: ClassVar[str | None] = None
    # Whether its DUT runs where nothing is known of it here: on another host, or as one likes.
    runs_elsewhere: ClassVar[bool] = False
    # Whether its DUT takes time to come to rest between trials.
    settles: ClassVar[bool] = True
    # The process whose loops poll `polled_cpus`, by its name in the ledger.
    polling_program: ClassVar[str] = ""
    # In bytes with FCS.
    largest_frame_size: ClassVar[int] = 9216

    @classmethod
    def needs(cls) -> LabNeeds:
        """What the machine must have for it, whatever its settings."""
        return LabNeeds()

    @property
    def megabytes(self) -> int:
        """The packet memory that the DUT needs, in MB."""
        return 0

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """The CPUs that its polling loops will keep busy, each with its place in the settings."""
        return ()

    @property
    def returns_frames(self) -> bool:
        """Whether the DUT sends on what it receives; else only its counters tell what it took."""
        return True

    @property
    def added_bytes(self) -> int:
        """What the DUT adds to a frame that goes forward, from port 0 to port 1."""
        return 0

    @property
    def flow_memory_s(self) -> float | None:
        """How long the DUT keeps state of a flow without frames, in s; None where it keeps none."""
        return None

    def check_flows(self, flows: int) -> None:
        """Look whether a DUT that keeps state of flows has room for so many at a time.

        Raises MachineError naming the field.
        """
        return

    def for_frames(self, frame_size: int) -> LabModel:
        """The settings for frames of up to `frame_size` bytes with FCS; most need no change."""
        return self

    @property
    @abstractmethod
    def port_count(self) -> int:
        """How many ports the tester opens."""

    @property
    @abstractmethod
    def directions(self) -> Paths:
        """The paths that its LabPorts will have."""

    @property
    def simulation(self) -> Simulation | None:
        """The generator with the DUT in it, where both are computed; None where frames are sent.

        Of a simulated lab nothing of the machine is used.
        """
        return None

    @property
    def simulated(self) -> bool:
        """Whether DUT and generator are computed."""
        return self.simulation is not None

    def check_machine(self) -> LineRate:
        """Look at what the lab needs of this machine, and change nothing.

        Raises InputError and MachineError naming the field.
        """
        return LineRate(None)

    @abstractmethod
    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""

    def make_without_ledger(self) -> Lab:
        """The same of a simulated lab, which leaves nothing on this machine to be undone.

        Raises ValueError for any other.
        """
        raise ValueError(f"{type(self).__name__} needs a ledger")
