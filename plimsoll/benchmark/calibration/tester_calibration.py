"""`plimsoll calibrate`: what the tester itself adds and carries, measured without a DUT.

The search for the highest rate that the tester alone carries without a fault of its own. It drives
any function that tries a rate and says what went wrong; it sends nothing itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from plimsoll.benchmark.session.session import versions
from plimsoll.benchmark.testbed.testbed import Testbed, TestbedConfig, testbed
from plimsoll.benchmark.testbed.tester_identity import tester_identity
from plimsoll.benchmark.testbed.trial_marks import TrialMarks
from plimsoll.errors import InputError
from plimsoll.generator.interface import Generator, Interval, TrialPlan, TrialReport
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.record.calibrations.calibration import CalibrationPoint
from plimsoll.record.calibrations.stored_calibration import CleanRate, StoredCalibration
from plimsoll.record.run.environment import read_environment
from plimsoll.record.trials.trial_parts import TrialIdentity
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.text.wire import max_pps
from plimsoll.text.counted import was
from plimsoll.text.units import format_pps
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.traffic.streams.compile import Paths, compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.trial.outcome.due_frames import due_frames, scatter

# What the tester did wrong at a rate, in words; None for a clean trial.
TryRate = Callable[[float], str | None]

START_PPS = 100_000.0
MIN_PPS = 1_000.0
# The rate is known to 5 %: trials differ by more.
_PRECISION = 0.05
# A machine that takes the CPU away spoils a trial at any rate; it must not pass for the
# tester's limit, so a rate is beyond the tester only when no trial of it is clean.
_TRIES = 3
_CONFIRMATIONS = 3
_CONFIRMING_TRIES = 8


@dataclass(frozen=True, slots=True)
class FoundRate:
    """A rate in pps with `clean` clean trials among `trials`, and the fault seen above it."""

    pps: float
    clean: int
    trials: int
    fault_above: str | None


def find_clean_rate(
    try_rate: TryRate, *, most_pps: float, start_pps: float = START_PPS
) -> FoundRate | None:
    """The highest clean rate from 1 kpps to `most_pps`, known to 5 %; None without one.

    Doubles (or halves) from `start_pps`, then halves the interval, then asks for three
    more clean trials, lower by 5 % where they do not come.
    """
    search = _Search(try_rate, most_pps)
    search.bracket(min(start_pps, most_pps))
    search.narrow()
    return search.confirm()


class _Search:
    """Between `clean_pps`, at which a trial was clean, and `faulty_pps`, at which none was."""

    def __init__(self, try_rate: TryRate, most_pps: float) -> None:
        self._try_rate = try_rate
        self._most_pps = most_pps
        self._clean_pps = 0.0
        self._faulty_pps = math.inf
        self._fault: str | None = None

    def bracket(self, start_pps: float) -> None:
        pps = start_pps
        while self._carries(pps) and pps < self._most_pps:
            pps = min(2 * pps, self._most_pps)
        while self._clean_pps == 0.0 and pps / 2 >= MIN_PPS:
            pps /= 2
            self._carries(pps)

    def narrow(self) -> None:
        while self._clean_pps and self._clean_pps < self._faulty_pps * (1 - _PRECISION):
            if math.isinf(self._faulty_pps):
                return
            self._carries(math.sqrt(self._clean_pps * self._faulty_pps))

    def confirm(self) -> FoundRate | None:
        pps = self._clean_pps
        while pps >= MIN_PPS:
            faults: list[str] = []
            for trial in range(1, _CONFIRMING_TRIES + 1):
                fault = self._try_rate(pps)
                faults += [] if fault is None else [fault]
                clean = trial - len(faults)
                if clean == _CONFIRMATIONS:
                    return FoundRate(pps, clean, trial, self._fault)
            pps, self._fault = pps * (1 - _PRECISION), faults[-1]
        return None

    def _carries(self, pps: float) -> bool:
        for _ in range(_TRIES):
            fault = self._try_rate(pps)
            if fault is None:
                self._clean_pps = max(self._clean_pps, pps)
                return True
        self._faulty_pps, self._fault = min(self._faulty_pps, pps), fault
        return False


# Long enough for a p99.9 of 1000 probes a second.
_POINT_S = 3.0
# A search takes some twenty trials, so they are short; at 100 kpps one is of 50,000 frames.
_SEARCH_S = 0.5
_DRAIN_S = 0.1
# A tester that carries the rate makes up for being away, and there is no DUT to spare the
# burst. But what it is behind with when a trial ends is sent after its end, so this much of
# a trial may be more than it carries: less than the search's precision.
_CATCH_UP_SHARE = 0.02
# The engine's largest burst: what was due when sending ended, and not yet sent.
_LAST_BURST_FRAMES = 64


@dataclass(frozen=True, slots=True)
class MeasuredTester:
    """The points of a calibration, and the highest clean rate where there is one."""

    points: tuple[CalibrationPoint, ...]
    clean_rate: CleanRate | None


def calibration_profile() -> Profile:
    """64 B in 1024 flows, and 1000 probes a second on top of them, in every direction."""
    load = {"name": "load", "role": "load", "flows": 1024}
    probe = {"name": "probe", "role": "latency", "rate": "1000pps"}
    return Profile.model_validate({"streams": [load, probe]})


def check_calibration_profile(profile: Profile, where: str) -> None:
    """Raise InputError where a calibration would have nothing to load or to probe with."""
    for role, streams in (("load", profile.load_streams), ("latency", profile.latency_streams)):
        if not streams:
            raise InputError(
                f"a calibration needs a stream with role: {role}",
                where=where,
                remedy="add one, or leave the profile out",
            )


def calibrate_tester(
    plan: TestbedConfig, profile: Profile, ledger: Ledger, tell: Callable[[str], None]
) -> StoredCalibration:
    """Measure the tester on the lab of `plan`, whose paths must hold nothing but the tester.

    Raises InputError and MachineError for what the user can fix, and GeneratorDied.
    """
    with testbed(plan, ledger, tell) as bed:
        for note in bed.notes:
            tell(note)
        with bed.undisturbed():
            measured = measure_tester(
                LoneTester(bed.generator),
                profile,
                bed.ports.paths,
                _most_pps(plan, bed, profile),
                tell,
            )
        return _stored(plan, bed, profile, measured)


def measure_tester(
    tester: LoneTester, profile: Profile, paths: Paths, most_pps: float, tell: Callable[[str], None]
) -> MeasuredTester:
    """Idle, one in flight, the search for the clean rate, and the latency under load."""

    def streams(load_pps: float) -> tuple[StreamPlan, ...]:
        return compile_profile(profile, load_pps, paths)

    def point(name: str, sent: tuple[StreamPlan, ...], load_pps: float) -> CalibrationPoint:
        tell(name)
        return CalibrationPoint.from_trial(name, tester.trial(sent, load_pps, _POINT_S)[0])

    probes = tuple(each for each in streams(most_pps) if each.role == "latency")
    points = [
        point("idle", probes, 0.0),
        point("one in flight", one_in_flight(probes), 0.0),
    ]
    rate = _clean_rate(tester, streams, most_pps, tell)
    if rate is not None:
        whole = rate.pps_per_direction
        points.append(point("half clean rate", streams(whole / 2), whole / 2))
        points.append(point("clean rate", streams(whole), whole))
    return MeasuredTester(tuple(points), rate)


def _clean_rate(
    tester: LoneTester,
    streams: Callable[[float], tuple[StreamPlan, ...]],
    most_pps: float,
    tell: Callable[[str], None],
) -> CleanRate | None:
    def try_rate(pps: float) -> str | None:
        fault = tester.trial(streams(pps), pps, _SEARCH_S)[1]
        tell(f"{format_pps(pps)} per direction: {fault or 'clean'}")
        return fault

    found = find_clean_rate(try_rate, most_pps=most_pps)
    if found is None:
        return None
    return CleanRate(
        pps_per_direction=found.pps,
        clean_trials=found.clean,
        trials=found.trials,
        trial_s=_SEARCH_S,
        fault_above=found.fault_above,
    )


def _most_pps(plan: TestbedConfig, bed: Testbed, profile: Profile) -> float:
    """The line rate, where there is a line; else all that the generator sends of a stream."""
    if bed.line_rate_bps is None:
        return plan.generator.capabilities.most_pps
    return max_pps(profile.mean_frame_size, bed.line_rate_bps)


def _stored(
    plan: TestbedConfig, bed: Testbed, profile: Profile, measured: MeasuredTester
) -> StoredCalibration:
    environment = read_environment(versions(bed.generator.facts))
    return StoredCalibration(
        tester=tester_identity(
            environment, plan.generator, bed.generator.facts, bed.generator.ports[0]
        ),
        measured_at=datetime.now(UTC),
        kernel=environment.kernel,
        traffic=_traffic(compile_profile(profile, _most_pps(plan, bed, profile), bed.ports.paths)),
        directions=len(bed.ports.paths),
        points=measured.points,
        clean_rate=measured.clean_rate,
    )


def _traffic(streams: tuple[StreamPlan, ...]) -> str:
    """What is sent in the first direction: "load 64 B in 1024 flows, probe 64 B at 1 kpps"."""
    first = (streams[0].tx_port, streams[0].rx_port)
    return ", ".join(_described(each) for each in streams if (each.tx_port, each.rx_port) == first)


def _described(stream: StreamPlan) -> str:
    name = stream.name.rpartition("/")[0]
    flows = max((field.count for field in stream.fields), default=1)
    text = f"{name} {stream.mean_frame_size:.4g} B"
    if flows > 1:
        text += f" in {flows} flows"
    if stream.role == "latency" and stream.rate_pps is not None:
        text += f" at {format_pps(stream.rate_pps)}"
    return text


# The tester without a DUT: trials over paths that hold nothing but the tester.
@dataclass
class LoneTester:
    """Runs trials on `generator`, each under a mark of its own, and records none of them."""

    generator: Generator
    marks: TrialMarks = field(default_factory=TrialMarks)
    trials: int = 0

    def trial(
        self, streams: tuple[StreamPlan, ...], load_pps: float, duration_s: float
    ) -> tuple[TrialRecord, str | None]:
        """One trial, and the first fault of the tester in it; None where it was clean.

        Frames refused and frames lost are the tester's: nothing else is there.
        """
        plan = TrialPlan(
            mark=self.marks.take(),
            streams=streams,
            duration_s=duration_s,
            drain_s=_DRAIN_S,
            interval_s=duration_s,
            catch_up_us=_CATCH_UP_SHARE * duration_s * 1e6,
            load_pps=load_pps,
        )
        report = self.generator.trial(plan, _go_on)
        self.trials += 1
        lost = {each.stream: each.sent - each.received + each.duplicate for each in report.streams}
        identity = TrialIdentity(self.trials, "calibration")
        record = TrialRecord.from_report(identity, plan, report, lost=lost)
        return record, next(_faults(plan, report, lost), None)


def one_in_flight(streams: tuple[StreamPlan, ...]) -> tuple[StreamPlan, ...]:
    """The same streams, each sending its next frame when the last is back."""
    return tuple(
        replace(stream, rate_pps=None, pacing=Pacing("one-in-flight")) for stream in streams
    )


def _go_on(interval: Interval) -> bool:
    return False


def _faults(plan: TrialPlan, report: TrialReport, lost: dict[int, int]) -> Iterator[str]:
    """What the tester did wrong, in words."""
    if report.ended_by == "link_down":
        yield "a link went down"
    plans = {stream.stream: stream for stream in plan.streams}
    for counts in report.streams:
        stream = plans[counts.stream]
        for frames, said in (
            (counts.skipped, "skipped, being late"),
            (counts.no_buffer, "not sent for lack of a buffer"),
            (counts.refused, "refused by the port's full queue"),
            (lost[counts.stream], "lost"),
            (_short_of_plan(stream, counts.sent, report.sending_s), "not offered in time"),
        ):
            if frames:
                noun = "frame" if frames == 1 else "frames"
                yield f"{frames:,} {noun} of {stream.name} {was(frames)} {said}"


def _short_of_plan(stream: StreamPlan, sent: int, sending_s: float) -> int:
    """Frames missing beyond the last burst."""
    due = due_frames(stream, sending_s)
    if due is None:
        return 0
    short = due - sent
    return round(short) if short > _LAST_BURST_FRAMES + scatter(stream, due) else 0
