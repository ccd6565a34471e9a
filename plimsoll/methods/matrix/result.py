"""The result of a matrix: its iterations, and the load line that each sample found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import Field, JsonValue

from plimsoll.errors import PlimsollError
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import PER_DIRECTION, Method, RunAnswer, RunOutcome
from plimsoll.record.results.result import Result
from plimsoll.record.trials.trial_record import Verdict, whole_verdict
from plimsoll.search.strategy.goal_end import LimitedBy
from plimsoll.text.units import format_pps

# The field of the experiment that lists its neighbours.
NOISE_FIELD = "noise"


class SampleResult(RecordModel):
    """One run of an iteration."""

    number: int = Field(description="The number of the run within its combination, from 1.")
    directory: str = Field(description="Where its run lies, below the matrix run's directory.")
    load_line_pps: float | None = Field(
        description="Its load line per direction, in frames per second; null without one."
    )
    intended_pps: float | None = Field(
        default=None,
        description="The intended load of the load line, in pps per direction, of which "
        "load_line_pps is what was offered; null without one, and in earlier versions.",
    )
    limited_by: LimitedBy | None = Field(
        description="What kept the load line from being higher: the DUT, the platform that took "
        "its CPU, the tester, or the maximum that was searched; null without one."
    )
    reason: str | None = Field(
        description="Why there is no load line, in words; null where there is one, and of a run "
        "that ended with an error or was not run."
    )
    error: str | None = Field(description="The error that ended it; null if it finished.")
    verdict: Verdict | None = Field(
        default=None,
        description="Pass, fail or invalid, as of any run; none of one that ended with an error; "
        "null in records of older versions.",
    )
    error_code: int | None = Field(
        default=None,
        description="With which exit code `plimsoll run` would have ended by the error.",
    )
    skipped: str | None = Field(
        default=None,
        description="Why it was not run; null if it was run, and in records of older versions.",
    )

    @property
    def carried_nothing(self) -> bool:
        """Whether the DUT failed at every load that was tried."""
        return self.load_line_pps is None and self.verdict == "fail"

    @classmethod
    def found(cls, number: int, directory: str, result: Result) -> Self:
        """Of a run that came to its result."""
        line = result.load_line
        return cls(
            number=number,
            directory=directory,
            load_line_pps=None if line is None else line.pps_per_direction,
            intended_pps=None if line is None else line.intended_pps,
            limited_by=result.limited_by,
            reason=result.reason,
            error=None,
            verdict=result.verdict,
        )

    @classmethod
    def failed(cls, number: int, directory: str, error: PlimsollError) -> Self:
        """Of a run that did not."""
        return cls(
            number=number,
            directory=directory,
            load_line_pps=None,
            limited_by=None,
            reason=None,
            error=str(error),
            verdict="none",
            error_code=error.exit_code,
        )

    @classmethod
    def not_run(cls, number: int, directory: str, reason: str) -> Self:
        """Of one that was left out, for this reason."""
        return cls(
            number=number,
            directory=directory,
            load_line_pps=None,
            limited_by=None,
            reason=None,
            error=None,
            verdict="none",
            skipped=reason,
        )


class LoadLineSpread(RecordModel):
    """The load lines of an iteration's samples, in pps per direction."""

    samples: int = Field(description="Number of load lines.")
    mean_pps: float = Field(description="Their mean, in frames per second per direction.")
    min_pps: float = Field(description="The least, in frames per second per direction.")
    max_pps: float = Field(description="The greatest, in frames per second per direction.")
    relative: float = Field(description="Greatest less least, as a share of the mean.")

    @classmethod
    def of(cls, loads_pps: Sequence[float]) -> Self | None:
        """None where there is none."""
        if not loads_pps:
            return None
        mean_pps = math.fsum(loads_pps) / len(loads_pps)
        least, most = min(loads_pps), max(loads_pps)
        return cls(
            samples=len(loads_pps),
            mean_pps=mean_pps,
            min_pps=least,
            max_pps=most,
            relative=(most - least) / mean_pps,
        )


class IterationResult(RecordModel):
    """One combination of values, by the paths of the fields that have them."""

    number: int = Field(description="The number of the combination, from 1.")
    params: dict[str, JsonValue] = Field(
        description="The values of the combination, by the paths of their fields."
    )
    samples: tuple[SampleResult, ...] = Field(description="The runs of this combination.")
    load_line: LoadLineSpread | None = Field(
        description="The load lines of the samples together; null without any."
    )

    @classmethod
    def of(
        cls, number: int, params: Mapping[str, JsonValue], samples: Sequence[SampleResult]
    ) -> Self:
        """The iteration with its spread."""
        loads = [each.load_line_pps for each in samples if each.load_line_pps is not None]
        return cls(
            number=number,
            params=dict(params),
            samples=tuple(samples),
            load_line=LoadLineSpread.of(loads),
        )


class MatrixResult(RecordModel):
    """What a matrix found, iteration by iteration. Its runs have records of their own."""

    method: Literal["matrix"] = Field(
        default="matrix", description="What was run, by the name of its command."
    )
    run_id: str = Field(description="The run directory's name.")
    name: str = Field(description="The name in the file that was run.")
    order: str = Field(description="The order in which the samples were run.")
    seed: int = Field(description="The seed of a random order.")
    iterations: tuple[IterationResult, ...] = Field(
        description="One entry for each combination of values."
    )
    versions: dict[str, str | None] = Field(
        description="Versions by component (plimsoll, engine, DPDK, Python); null of one not used."
    )

    @property
    def samples(self) -> tuple[SampleResult, ...]:
        """Those of all iterations."""
        return tuple(each for iteration in self.iterations for each in iteration.samples)

    @property
    def complete(self) -> bool:
        """Whether every sample of every iteration found a load line."""
        return all(each.load_line_pps is not None for each in self.samples)

    @property
    def verdict(self) -> Verdict:
        """Pass where every sample found a load line, fail where one failed, else invalid."""
        if self.complete:
            return "pass"
        verdict = whole_verdict(each.verdict for each in self.samples)
        return "fail" if verdict == "fail" or self._of_older_version else "invalid"

    @property
    def error_code(self) -> int | None:
        """That of the first sample that ended with an error; None without one."""
        return next((s.error_code for s in self.samples if s.error_code is not None), None)

    @property
    def _of_older_version(self) -> bool:
        return all(each.verdict is None for each in self.samples)


def _outcome(result: MatrixResult) -> RunOutcome:
    loads = [each.load_line_pps for each in result.samples if each.load_line_pps is not None]
    text = f"{len(loads)} of {len(result.samples)} load lines"
    if loads:
        text += f", {format_pps(min(loads))} to {format_pps(max(loads))}"
    answer = RunAnswer(text, "load lines", None, PER_DIRECTION)
    return RunOutcome(answer, result.verdict)


METHOD = Method(
    "matrix",
    command="matrix",
    result=MatrixResult,
    schema="matrix-result",
    outcome=_outcome,
    by_criteria=True,
    of_many_runs=True,
)
