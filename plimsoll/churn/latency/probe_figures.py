"""What the datagrams of probes come to: percentiles, loss, and a histogram of microseconds."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.churn.latency.probes import ProbeLog, ProbeSample
from plimsoll.churn.results.churn_result import ProbeFigures
from plimsoll.errors import MachineError

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
        remedy="look whether the network carries UDP, and go on by --resume",
    )
