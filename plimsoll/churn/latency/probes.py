"""UDP probes next to the streams, for as long as a cell lasts, and what each of them saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from plimsoll.churn.streams.networks import Fabric, PodPair
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child
from plimsoll.host.processes.own_module import WORKING_DIRECTORY, module_argv, module_environment

_MODULE = "plimsoll.churn.latency.udp_prober"
_LONGEST_END_S = 20.0


class LatencyProbeSettings(BaseModel):
    """How many datagrams a second, between the pods of how many of the pairs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pps: Annotated[PositiveInt, Field(le=10_000)] = 1000
    pairs: Annotated[PositiveInt, Field(le=32)] = 1


@dataclass(frozen=True, slots=True)
class ProbeSample:
    """One datagram: when it was sent, in ns since the epoch; no latency: it never came."""

    sent_ns: int
    latency_ns: int | None


@dataclass(frozen=True, slots=True)
class ProbeLog:
    """What one pair's probe saw, in the order in which datagrams were sent.

    `unsent` are those that were due while the prober was kept from its CPU. `round_trip` where a
    reflector answered, for want of a clock in common.
    """

    pair: int
    samples: tuple[ProbeSample, ...]
    unsent: int
    duplicates: int
    round_trip: bool = False


class Probes:
    """Probes that run. `probing` starts them."""

    def __init__(self, running: Sequence[tuple[int, Child]]) -> None:
        self._running = running

    def check(self) -> None:
        """Raise MachineError where one has ended."""
        for pair, child in self._running:
            if child.exit_status() is not None:
                raise _failed(pair, f"has ended: {' / '.join(child.log_tail(2))}")

    def stop(self) -> tuple[ProbeLog, ...]:
        """End all of them, and read what they saw. Raises MachineError."""
        for _, child in self._running:
            child.interrupt()
        for pair, child in self._running:
            if not child.wait(_LONGEST_END_S):
                raise _failed(pair, "does not end")
        return tuple(read_probe_log(child.log, pair) for pair, child in self._running)


@contextmanager
def probing(
    fabric: Fabric, settings: LatencyProbeSettings, ledger: Ledger, name: str
) -> Iterator[Probes]:
    """Start a probe for each of the first pairs; `name` begins the names of their files."""
    with ExitStack() as stack:
        running = []
        for pair in fabric.pairs[: settings.pairs]:
            child = _start(pair, settings.pps, ledger, name)
            stack.callback(child.end, 1.0)
            ledger.note_process(f"udp probe {pair.number}", child.identity)
            running.append((pair.number, child))
        yield Probes(running)


def _start(pair: PodPair, pps: int, ledger: Ledger, name: str) -> Child:
    ends = (str(pair.client.path), str(pair.server.path), pair.address, str(pair.port), str(pps))
    return Child.start(
        module_argv(_MODULE, *ends),
        log=ledger.directory / f"{name}-{pair.number}-probe.csv",
        environment=module_environment(ledger.environment),
        favoured=False,
        folder=Path(WORKING_DIRECTORY),
    )


def read_probe_log(path: Path, pair: int) -> ProbeLog:
    """What a prober wrote. Raises MachineError where it did not come to its end."""
    try:
        with path.open(encoding="utf-8") as lines:
            return parse_probe_log(lines, pair)
    except (OSError, ValueError) as error:
        raise _failed(pair, f"left no whole log: {error}") from error


def parse_probe_log(lines: Iterable[str], pair: int) -> ProbeLog:
    """The same of its lines. Raises ValueError."""
    samples: list[tuple[int, ProbeSample]] = []
    for line in lines:
        first, second, third = line.rstrip("\n").split(",")
        if first == "end":
            samples.sort(key=lambda each: each[0])
            ordered = tuple(sample for _, sample in samples)
            return ProbeLog(pair, ordered, unsent=int(second), duplicates=int(third))
        latency_ns = int(third) if third else None
        samples.append((int(first), ProbeSample(int(second), latency_ns)))
    raise ValueError("its last line is missing")


def _failed(pair: int, what: str) -> MachineError:
    return MachineError(
        f"the UDP probe of pair {pair} {what}",
        where="streams.latency_probe",
        remedy="run as root, look whether the network carries it, and go on by --resume",
    )
