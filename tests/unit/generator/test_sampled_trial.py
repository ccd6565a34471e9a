"""Trials of generators that only tell totals, against senders whose every count is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.generator.sampled_trial import (
    PortTotals,
    StreamTotals,
    Totals,
    grown_by,
    run_sampled_trial,
)

PLAN = TrialPlan(mark=1, streams=(), duration_s=0.06, drain_s=0.02, interval_s=0.02)


@dataclass
class Counting:
    """Sends 100 frames more at each look while it sends, of which 10 come back a look later."""

    links: tuple[bool, ...] = ()
    deeds: list[str] = field(default_factory=list)
    looks: int = 0
    sent: int = 1000
    received: int = 900
    fails_at: int | None = None

    def begin(self) -> None:
        self.deeds.append("begin")

    def totals(self) -> Totals:
        self.looks += 1
        if self.looks == self.fails_at:
            raise OSError("gone")
        sending = self.deeds == ["begin"]
        self.received += 0 if not self.deeds else 90 if sending else 10
        self.sent += 100 if sending else 0
        up = self.links[self.looks - 1] if self.looks <= len(self.links) else True
        timed = ((3, self.looks), (7, 2))
        return Totals(
            {4: StreamTotals(sent=self.sent, received=self.received, latency_us=timed)},
            {0: PortTotals(foreign=3 * self.looks, rx_missed=self.looks, link_up=up)},
        )

    def end(self) -> float:
        self.deeds.append("end")
        return 0.0625

    def drained(self) -> None:
        self.deeds.append("drained")


def watched(seen: list[Interval], stop_after: int = 99) -> object:
    def watch(interval: Interval) -> bool:
        seen.append(interval)
        return len(seen) >= stop_after

    return watch


def test_intervals_add_up_to_the_report() -> None:
    sender, seen = Counting(), []
    report = run_sampled_trial(sender, PLAN, watched(seen))
    assert sender.deeds == ["begin", "end", "drained"]
    (stream,), (port,) = report.streams, report.ports
    assert stream.stream == 4
    assert stream.sent == sender.sent - 1000 == sum(each.streams[0].sent for each in seen)
    assert stream.received == sender.received - 900
    assert stream.missing == stream.sent - stream.received
    assert sum(each.streams[0].missing for each in seen) == stream.missing
    assert stream.latency_us == ((3, sender.looks - 1),)
    assert port.rx_missed == sender.looks - 1
    assert port.foreign == 3 * (sender.looks - 1) == port.foreign_kinds["other"]
    assert (report.ended_by, report.sending_s) == ("duration", 0.0625)
    assert [each.index for each in seen] == list(range(len(seen)))
    assert [each.phase for each in seen][-1] == "drain"
    assert all(one.end_s == other.begin_s for one, other in pairwise(seen))


def test_who_watches_stops_it() -> None:
    sender, seen = Counting(), []
    long = TrialPlan(mark=1, streams=(), duration_s=60.0, drain_s=0.0, interval_s=0.01)
    report = run_sampled_trial(sender, long, watched(seen, stop_after=2))
    assert report.ended_by == "stop"
    assert sender.deeds == ["begin", "end", "drained"]


def test_a_link_that_goes_ends_it() -> None:
    sender = Counting(links=(True, False))
    long = TrialPlan(mark=1, streams=(), duration_s=60.0, drain_s=0.0, interval_s=0.01)
    report = run_sampled_trial(sender, long, watched([]))
    assert sender.deeds[:2] == ["begin", "end"]
    assert report.streams[0].sent > 0


def test_whatever_fails_it_ends_sending_first() -> None:
    sender = Counting(fails_at=2)
    with pytest.raises(OSError, match="gone"):
        run_sampled_trial(sender, PLAN, watched([]))
    assert sender.deeds == ["begin", "end"]


def test_samples_of_an_interval_are_what_the_histogram_grew_by() -> None:
    before = Histogram(count=3, sum_ns=30, min_ns=5, max_ns=20, buckets=((5, 2), (20, 1)))
    after = Histogram(count=6, sum_ns=90, min_ns=5, max_ns=30, buckets=((5, 3), (20, 1), (30, 2)))
    assert grown_by(before, after) == Histogram(3, 60, 5, 30, ((5, 1), (30, 2)))
    assert grown_by(Histogram(), after) is after
    assert grown_by(after, after) == Histogram()
