"""`plimsoll rfc2544`: the six tests of RFC 2544."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import PER_DIRECTION, RunAnswer, RunOutcome, rate_text
from plimsoll.record.results.rfc2544_result import Rfc2544Result, ThroughputRow
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.trial_record import Verdict


def _outcome(result: Rfc2544Result) -> RunOutcome:
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
        none = RunAnswer("no throughput", "throughput", None, PER_DIRECTION)
        return RunOutcome(none, verdict)
    frames = hardest.subject.frames
    text = f"{rate_text(hardest.pps)}, {f'{frames} B' if frames.isdecimal() else frames}"
    answer = RunAnswer(text, "throughput", hardest.pps, PER_DIRECTION)
    proof = hardest.final_trial
    return RunOutcome(answer, verdict, None if proof is None else trial_period(proof))


RFC2544 = Method(
    "rfc2544", command="rfc2544", result=Rfc2544Result, schema="rfc2544-result", outcome=_outcome
)
