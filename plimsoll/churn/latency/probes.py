"""UDP probes next to the streams, for as long as a cell lasts, and what each of them saw."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from plimsoll.churn.results.churn_result import ProbeFigures
from plimsoll.churn.streams.networks import Fabric, PodPair
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import WORKING_DIRECTORY, Child, module_argv, module_environment

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
        remedy="run as root, look whether the network carries it, and resume by --resume",
    )


_S_NS = 1_000_000_000
_US_NS = 1_000


@dataclass(frozen=True, slots=True)
class ProbeSecond:
    """One second of one pair's probe, from `begin_ns` since the epoch; latencies are in µs."""

    pair: int
    begin_ns: int
    received: int
    lost: int
    p50_us: float | None
    p99_us: float | None
    max_us: float | None


def probe_figures(logs: Sequence[ProbeLog], begin_ns: int, churn_ns: int) -> ProbeFigures:
    """From the churn's begin on, next to the same before it.

    Raises MachineError where no datagram came, or the clock was set in the middle.
    """
    sent = [each for log in logs for each in log.samples]
    before = _latencies_us(each for each in sent if begin_ns <= each.sent_ns < churn_ns)
    after = [each for each in sent if each.sent_ns >= churn_ns]
    during = _latencies_us(after)
    if not before or not during:
        raise _unusable("no datagram came before the churn, or none from its begin on")
    if min(before[0], during[0]) < 0:
        raise _unusable("a datagram came before it was sent: the clock was set in the middle")
    counts = Counter(int(each) for each in during)
    return ProbeFigures(
        pairs=len(logs),
        round_trip=any(log.round_trip for log in logs),
        sent=len(after),
        lost=len(after) - len(during),
        unsent=sum(log.unsent for log in logs),
        duplicates=sum(log.duplicates for log in logs),
        before_p50_us=_rank(before, 0.5),
        before_p99_us=_rank(before, 0.99),
        p50_us=_rank(during, 0.5),
        p95_us=_rank(during, 0.95),
        p99_us=_rank(during, 0.99),
        p99_9_us=_rank(during, 0.999),
        max_us=during[-1],
        histogram=tuple(sorted(counts.items())),
    )


def p99_within(logs: Sequence[ProbeLog], begin_ns: int, end_ns: int) -> float | None:
    """In µs, of the datagrams sent in [begin_ns, end_ns); None where none of them came."""
    sent = (each for log in logs for each in log.samples)
    found = _latencies_us(each for each in sent if begin_ns <= each.sent_ns < end_ns)
    return _rank(found, 0.99) if found else None


def probe_seconds(log: ProbeLog) -> Iterator[ProbeSecond]:
    """Each whole second since the epoch in which datagrams were sent."""
    seconds: dict[int, list[ProbeSample]] = defaultdict(list)
    for each in log.samples:
        seconds[each.sent_ns // _S_NS].append(each)
    for second, samples in sorted(seconds.items()):
        found = _latencies_us(samples)
        yield ProbeSecond(
            pair=log.pair,
            begin_ns=second * _S_NS,
            received=len(found),
            lost=len(samples) - len(found),
            p50_us=_rank(found, 0.5) if found else None,
            p99_us=_rank(found, 0.99) if found else None,
            max_us=found[-1] if found else None,
        )


def _latencies_us(samples: Iterable[ProbeSample]) -> list[float]:
    """Of those that came, the shortest first."""
    return sorted(each.latency_ns / _US_NS for each in samples if each.latency_ns is not None)


def _rank(ordered: Sequence[float], q: float) -> float:
    """The nearest rank: the least value that at least a share `q` of all do not exceed."""
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def _unusable(what: str) -> MachineError:
    return MachineError(
        what,
        where="streams.latency_probe",
        remedy="look whether the network carries UDP, and resume by --resume",
    )
