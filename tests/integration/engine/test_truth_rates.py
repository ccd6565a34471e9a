"""Rates that change while frames are sent, against a DUT whose every deed is known."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import pytest

from tests.integration.engine.delay_dut import path
from tests.integration.engine.requests import Request, stream
from tests.integration.engine.session import EngineSession, Message
from tests.integration.engine.truth_bed import (
    Truth,
    TruthBed,
    assert_ports,
    assert_stream,
    truth_bed,
)
from tests.tried_again import SpoiltByMachine

# Long enough for some of the intervals that it is counted in.
PHASE_S = 0.8
INTERVAL_S = 0.1
# Of a phase: a loop whose CPU is taken away sends what was due then later.
TOLERANCE = 0.2
LONG = {"duration_s": 600, "interval_s": INTERVAL_S, "catch_up_us": 1e6}


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthBed]:
    with truth_bed(tmp_path_factory.mktemp("truth")) as bed:
        yield bed


@dataclass
class Phases:
    """Changes rates one after the other, and says from when to when each surely held."""

    rates_pps: tuple[dict[int, float], ...]
    held_s: list[tuple[float, float]] = field(default_factory=list)
    intervals: list[Message] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: count(100))

    def __call__(self, engine: EngineSession) -> None:
        self.held_s.clear()
        for rates_pps in self.rates_pps:
            begin_s = self.change(engine, rates_pps)
            time.sleep(PHASE_S)
            self.held_s.append((begin_s, self.change(engine, {})))
        engine.ask({"id": next(self.numbers), "request": "stop"})
        self.intervals = engine.intervals

    def change(self, engine: EngineSession, rates_pps: dict[int, float]) -> float:
        """When the polling loops had taken them over, in s of the trial."""
        streams = [{"stream": each, "rate_pps": rate} for each, rate in rates_pps.items()]
        reply = engine.ask({"id": next(self.numbers), "request": "rates", "streams": streams})
        return float(reply["at_s"])

    def counted(self, phase: int, stream_number: int, counter: str) -> tuple[int, float]:
        """Of the intervals that lie in the phase: what they count, and their length in s."""
        begin_s, end_s = self.held_s[phase]
        inside = [
            each for each in self.intervals if begin_s <= each["begin_s"] and each["end_s"] <= end_s
        ]
        counts = (part for each in inside for part in each["streams"])
        total = sum(part[counter] for part in counts if part["stream"] == stream_number)
        return total, sum(each["end_s"] - each["begin_s"] for each in inside)


def run(bed: TruthBed, phases: Phases, *streams: Request, **changes: Any) -> Truth:
    """Raises SpoiltByMachine where a loop was away for too large a part of a phase."""
    truth = bed.run(*streams, meanwhile=phases, **LONG, **changes)
    stalled_s = max(worker["worst_stall_ns"] for worker in truth.reply["workers"]) / 1e9
    if stalled_s > TOLERANCE * PHASE_S / 2:
        raise SpoiltByMachine(f"a polling loop was away for {stalled_s:.3g} s of a phase")
    return truth


PACINGS = [
    {"kind": "constant"},
    pytest.param({"kind": "burst", "frames": 16}, marks=pytest.mark.full),
    pytest.param({"kind": "poisson", "seed": 5}, marks=pytest.mark.full),
    pytest.param({"kind": "one-in-flight", "timeout_us": 1e6}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("pacing", PACINGS, ids=lambda pacing: str(pacing["kind"]))
def test_the_rate_is_the_one_asked_for_and_every_frame_is_counted(
    bed: TruthBed, pacing: Request
) -> None:
    rates = (500.0, 2000.0, 0.0, 800.0)
    phases = Phases(tuple({0: rate} for rate in rates))
    request = stream(0, 100, rx_port=1, pacing=pacing)
    truth = run(bed, phases, request, paths=[path(0, 1)])
    sent = truth.counts(0)["sent"]
    assert_stream(truth, request, sent)
    assert_ports(truth)
    assert [frame.sequence for frame in truth.report.of(0)] == list(range(sent))
    for phase, rate_pps in enumerate(rates):
        frames, length_s = phases.counted(phase, 0, "sent")
        if length_s < PHASE_S / 4:
            raise SpoiltByMachine(f"intervals in a phase lasted {length_s:.3g} s: all came late")
        # Whole bursts, and of random gaps five standard deviations of some 300 frames.
        spare = 90 if rate_pps else 0
        assert frames <= (1 + TOLERANCE) * rate_pps * length_s + spare
        if pacing["kind"] == "one-in-flight":
            # Where the DUT's CPU is taken away, each waits for the one before.
            assert (frames > 0) == (rate_pps > 0)
        else:
            assert frames >= (1 - TOLERANCE) * rate_pps * length_s - spare
            received, length_s = phases.counted(phase, 0, "received")
            assert received >= (1 - TOLERANCE) * rate_pps * length_s - spare


def test_losses_at_changes_are_the_dut_s_alone(bed: TruthBed) -> None:
    """Two streams of one loop, changed together and apart, thirty times."""
    rates = [{0: float(1000 + 400 * n), 1: 0.0 if n % 3 else 5000.0} for n in range(30)]
    phases = Phases(tuple(rates))
    there, back = stream(0, 1000, rx_port=1), stream(1, 0, tx_port=1, rx_port=0)
    drops = [{"do": "drop", "every": 50}]
    paths = [path(0, 1, wrongs=drops), path(1, 0, wrongs=drops)]
    truth = bed.run(there, back, paths=paths, meanwhile=partial(_quickly, phases), **LONG)
    for request in (there, back):
        sent = truth.counts(request["stream"])["sent"]
        assert sent > 0
        assert_stream(truth, request, sent)


def _quickly(phases: Phases, engine: EngineSession) -> None:
    for rates_pps in phases.rates_pps:
        phases.change(engine, rates_pps)
        time.sleep(0.02)
    engine.ask({"id": next(phases.numbers), "request": "stop"})
