"""What a run found, in one figure and one line: what a list of runs shows of its result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.record.metrics.metrics import trial_period
from plimsoll.record.results.latency_at_load_result import LatencyAtLoadResult, LoadPoint
from plimsoll.record.results.matrix_result import MatrixResult
from plimsoll.record.results.probe_result import ProbeResult
from plimsoll.record.results.result import Result
from plimsoll.record.results.rfc2544_result import Rfc2544Result, ThroughputRow
from plimsoll.record.results.rfc9004_result import Rfc9004Result
from plimsoll.record.results.soak_result import SoakResult
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.units import format_duration, format_ns, format_pps

_PER_DIRECTION = "pps per direction"
_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """`text` says it to people; `value` is what `figure` names, in `unit`.

    `value` is None where nothing was found, and where there is no one figure.
    """

    text: str
    figure: str
    value: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """`answer` and verdict of a run; "none" of a method that measures and judges nothing.

    `period` is the metrics' period that the answer rests on, where it is one. Not
    `complete` is a run that a signal ended in good order, and that can be gone on with.
    """

    answer: RunAnswer | None = None
    verdict: Verdict = "none"
    period: str | None = None
    complete: bool = True


def outcome_of(method: str, result: bytes) -> RunOutcome | None:
    """What the result.json of a run of `method` says; None of a method that is not known.

    Raises pydantic's ValidationError for one that this version cannot read, and ValueError or
    OverflowError for figures that are none.
    """
    read = _READERS.get(method)
    outcome = None if read is None else read(result)
    value = outcome.answer.value if outcome and outcome.answer else None
    if value is not None and not math.isfinite(value):
        raise ValueError("its figure is no number")
    return outcome


def trial_outcome(load_pps: float, verdict: Verdict, number: int) -> RunOutcome:
    """Of a `plimsoll trial`, which has no result but its one trial."""
    text = f"{format_pps(load_pps)} per direction: {verdict}"
    answer = RunAnswer(text, "load", load_pps, _PER_DIRECTION)
    return RunOutcome(answer, verdict, trial_period(number))


def _load_line(content: bytes) -> RunOutcome:
    result = Result.model_validate_json(content)
    line, proof = result.load_line, result.validation
    period = None if proof is None else trial_period(proof.trial)
    if line is None:
        told = "no load line" + (": could not test" if result.verdict == "invalid" else "")
        none = RunAnswer(told, "load line", None, _PER_DIRECTION)
        return RunOutcome(none, result.verdict, period)
    load_pps = line.pps_per_direction
    text = _rate(load_pps) + _intended(load_pps, line.asked_pps)
    found = RunAnswer(text, "load line", load_pps, _PER_DIRECTION)
    return RunOutcome(found, "pass", period)


def _soak(content: bytes) -> RunOutcome:
    result = SoakResult.model_validate_json(content)
    intended_pps = result.load_pps
    load_pps = intended_pps if result.offered_pps is None else result.offered_pps
    at = f"{format_pps(load_pps)}{_intended(load_pps, intended_pps)}"
    text = f"{result.verdict} at {at} for {format_duration(result.sent_s)}"
    answer = RunAnswer(text, "load", load_pps, _PER_DIRECTION)
    longest = max(result.segments, key=lambda segment: segment.sending_s, default=None)
    period = None if longest is None else trial_period(longest.trial)
    return RunOutcome(answer, result.verdict, period, complete=result.ended != "signal")


def _probe(content: bytes) -> RunOutcome:
    result = ProbeResult.model_validate_json(content)
    medians = [each.median_ns for each in result.statistics if each.median_ns is not None]
    worst = [each.stream.max_ns for each in result.statistics if each.stream.max_ns is not None]
    longest = max(result.segments, key=lambda segment: segment.sending_s, default=None)
    period = None if longest is None else trial_period(longest.trial)
    complete = result.ended != "signal"
    if not medians or not worst:
        none = RunAnswer("no probe came back", "median latency", None, "ns")
        return RunOutcome(none, result.verdict, period, complete)
    text = f"median {format_ns(max(medians))}, worst {format_ns(max(worst))}"
    answer = RunAnswer(text, "median latency", float(max(medians)), "ns")
    return RunOutcome(answer, result.verdict, period, complete)


def _latency_at_load(content: bytes) -> RunOutcome:
    result = LatencyAtLoadResult.model_validate_json(content)
    valid = [point for point in result.points if point.verdict != "invalid"]
    heaviest = max(valid, key=lambda point: point.load_pps, default=None)
    p99_ns = None if heaviest is None else _worst_p99_ns(heaviest)
    if heaviest is None or p99_ns is None:
        none = RunAnswer("no latency measured", "p99 latency", None, "ns")
        return RunOutcome(none, result.verdict)
    text = f"p99 {format_ns(p99_ns)} at {format_pps(heaviest.load_pps)}"
    answer = RunAnswer(text, "p99 latency", float(p99_ns), "ns")
    return RunOutcome(answer, result.verdict, trial_period(heaviest.trial))


def _worst_p99_ns(point: LoadPoint) -> int | None:
    """Of the probes, where there are any: they are what the method is about."""
    probes = [stream for stream in point.streams if stream.role == "latency"]
    known = [stream.latency.p99_ns for stream in probes or point.streams]
    return max((each for each in known if each is not None), default=None)


def _rfc2544(content: bytes) -> RunOutcome:
    result = Rfc2544Result.model_validate_json(content)
    parts = result.parts
    if parts.throughput is None:
        # The other tests' figures say nothing without their frame sizes.
        measured = [name for name, rows in parts if rows]
        text = ", ".join(name.replace("_", " ") for name in measured)
        return RunOutcome(RunAnswer(text, "tests", None, ""), result.verdict)
    return _throughput(parts.throughput, result.verdict)


def _throughput(rows: Sequence[ThroughputRow], verdict: Verdict) -> RunOutcome:
    """That of the smallest frames, which are the hardest to forward."""
    found = [row for row in rows if row.pps is not None]
    hardest = min(found, key=lambda row: row.subject.mean_frame_size, default=None)
    if hardest is None or hardest.pps is None:
        none = RunAnswer("no throughput", "throughput", None, _PER_DIRECTION)
        return RunOutcome(none, verdict)
    frames = hardest.subject.frames
    text = f"{_rate(hardest.pps)}, {f'{frames} B' if frames.isdecimal() else frames}"
    answer = RunAnswer(text, "throughput", hardest.pps, _PER_DIRECTION)
    proof = hardest.final_trial
    return RunOutcome(answer, verdict, None if proof is None else trial_period(proof))


def _rfc9004(content: bytes) -> RunOutcome:
    result = Rfc9004Result.model_validate_json(content)
    valid = [row for row in result.rows if row.valid and row.corrected_s is not None]
    first = next(iter(valid), None)
    if first is None or first.corrected_s is None:
        none = RunAnswer("no valid buffer time", "buffer time", None, "s")
        return RunOutcome(none, result.verdict)
    frames = first.throughput.subject.frames
    text = f"buffer {format_ns(first.corrected_s * _NS_PER_S)}, {frames} B"
    return RunOutcome(RunAnswer(text, "buffer time", first.corrected_s, "s"), result.verdict)


def _matrix(content: bytes) -> RunOutcome:
    result = MatrixResult.model_validate_json(content)
    loads = [each.load_line_pps for each in result.samples if each.load_line_pps is not None]
    text = f"{len(loads)} of {len(result.samples)} load lines"
    if loads:
        text += f", {format_pps(min(loads))} to {format_pps(max(loads))}"
    answer = RunAnswer(text, "load lines", None, _PER_DIRECTION)
    return RunOutcome(answer, result.verdict)


def _intended(offered_pps: float, intended_pps: float) -> str:
    """What the offered load was to be, where that is another figure."""
    intended = format_pps(intended_pps)
    return "" if intended == format_pps(offered_pps) else f" ({intended} intended)"


def _rate(pps: float) -> str:
    return f"{format_pps(pps)} per direction"


_READERS: Mapping[str, Callable[[bytes], RunOutcome]] = {
    "load-line": _load_line,
    "soak": _soak,
    "probe": _probe,
    "latency-at-load": _latency_at_load,
    "rfc2544": _rfc2544,
    "rfc9004": _rfc9004,
    "matrix": _matrix,
}
