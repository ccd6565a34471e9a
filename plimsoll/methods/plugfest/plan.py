"""What a plugfest is to do: every cell, whether it can be run, and which repetitions are run.

How well the median of a few repetitions is known: an exact interval, no distribution assumed.
The bounds are order statistics, by the binomial distribution of how many values lie below the
median (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd edition, section
3.6). Fewer than six values bound no median with 95 % confidence.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pydantic import Field, ValidationError

from plimsoll.benchmark.experiment.reading_interval import check_search_readings
from plimsoll.benchmark.whole_run.preflight import search_mistakes
from plimsoll.errors import InputError, PlimsollError
from plimsoll.host.ledger.cpu_claims import CpuTaken
from plimsoll.methods.matrix.plan import MatrixPlan, read_iteration, read_plan
from plimsoll.methods.matrix.result import SampleResult
from plimsoll.methods.matrix.settings import Sample
from plimsoll.methods.plugfest.result import METHOD, CellPlace
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.run.run_directory import RunDirectory


class PlannedCell(CellPlace):
    """A cell and the matrix's iteration that runs it; none where no experiment can be made."""

    iteration: int | None = Field(description="The matrix's number of it; null if it is refused.")
    refused: str | None = Field(description="Why there is no such experiment; null if there is.")


class PlugfestPlan(RecordModel):
    """The cells in the order of the axes. `budget_s` is None until it was estimated."""

    cells: tuple[PlannedCell, ...]
    baseline: str
    settled: float
    budget_s: float | None
    frames: dict[str, str] = Field(description="By frame size what it is: sizes and weights.")

    def as_settings(self) -> dict[str, Any]:
        """Plain data for the plan of the matrix."""
        return self.model_dump(mode="json")


def read_plugfest_plan(run: RunDirectory) -> tuple[MatrixPlan, PlugfestPlan]:
    """The plan of a run. Raises InputError where it is another kind, RecordError where damaged."""
    plan = read_plan(run, METHOD)
    return plan, plugfest_plan(plan)


def plugfest_plan(plan: MatrixPlan) -> PlugfestPlan:
    """What the matrix's plan keeps of it. Raises InputError."""
    try:
        return PlugfestPlan.model_validate(plan.settings)
    except ValidationError as error:
        raise InputError(
            "the cells that this run began with cannot be read",
            where=f"{plan.name}: matrix.json",
            remedy="resume it with the version of plimsoll that began it, or start a new run",
        ) from error


# The cells that cannot be run here and now, known before anything is started.
@dataclass(frozen=True, slots=True)
class RefusedCells:
    """By iteration what is wrong with it; and the CPUs of any that are taken for now, each once.

    A cell whose CPU another run polls at the moment is not refused for that.
    """

    cells: dict[int, PlimsollError]
    taken: tuple[CpuTaken, ...]


def refused_iterations(run: RunDirectory, plan: MatrixPlan) -> RefusedCells:
    """A DUT that is not installed, a frame too long, and whatever else is known beforehand.

    Looked at in every session, as the machine may have got by now what it lacked.
    """
    refused: dict[int, PlimsollError] = {}
    taken: dict[str, CpuTaken] = {}
    for each in plan.iterations:
        try:
            experiment = read_iteration(run, each.number)
            with experiment.with_source_locations():
                for mistake in search_mistakes(experiment):
                    if not isinstance(mistake, CpuTaken):
                        raise mistake
                    taken.setdefault(mistake.message, mistake)
            check_search_readings(experiment)
        except PlimsollError as error:
            refused[each.number] = error
    return RefusedCells(refused, tuple(taken.values()))


def refusal_text(error: PlimsollError) -> str:
    """What is wrong and what to do, without the place in a file that the run made."""
    return f"{error.message} ({error.remedy})" if error.remedy else error.message


CONFIDENCE = 0.95


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Least and most of the median, with 95 % confidence; None of too few values."""
    ordered = sorted(values)
    rank, below = 0, 0
    for count in range(len(ordered) // 2):
        below += math.comb(len(ordered), count)
        if 2 * below > (1 - CONFIDENCE) * 2 ** len(ordered):
            break
        rank = count + 1
    return (ordered[rank - 1], ordered[-rank]) if rank else None


def is_settled(values: Sequence[float], within: float) -> bool:
    """Whether the interval is at most `within` wide, as a share of the median."""
    interval = median_interval(values)
    middle = median(values) if values else 0.0
    return interval is not None and middle > 0 and interval[1] - interval[0] <= within * middle


# How the reasons begin by which a cell is known to be settled, or refused.
SETTLED, REFUSED = "settled", "refused: "
# An error that came twice will come again.
_MAX_ERRORS = 2


@dataclass
class PlugfestCourse:
    """Called before each repetition, in the order drawn.

    A cell that is refused is not tried, one that has ended with an error twice not again, and
    one whose median is known to `settled` not further. Every cell is run once, whatever that
    takes; a further repetition only where it will probably end within `budget_s`, of which
    `spent_s` went in earlier sessions, in which each cell took `took_s`, by iteration.
    """

    refused: Mapping[int, PlimsollError]
    settled: float
    budget_s: float | None
    spent_s: float = 0.0
    took_s: dict[int, list[float]] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _began_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._began_s = self.clock()

    @property
    def left_s(self) -> float | None:
        """Of the budget; None without one."""
        if self.budget_s is None:
            return None
        return self.budget_s - self.spent_s - (self.clock() - self._began_s)

    def reason_to_skip(self, sample: Sample, results: Mapping[Sample, SampleResult]) -> str | None:
        """In words that stand in the result."""
        if (error := self.refused.get(sample.iteration)) is not None:
            return f"{REFUSED}{refusal_text(error)}"
        own = [each for key, each in results.items() if key.iteration == sample.iteration]
        errors = [each.error for each in own if each.error is not None]
        if len(errors) >= _MAX_ERRORS:
            return f"it ended with an error twice: {errors[-1]}"
        lines = [each.load_line_pps for each in own if each.load_line_pps is not None]
        if is_settled(lines, self.settled):
            return f"{SETTLED}: its median is known to {self.settled:.3g} of itself"
        if sample.number > 1 and not self._in_time(sample.iteration):
            return "out of time: it would probably have ended after the budget"
        return None

    def ended(self, sample: Sample, seconds: float) -> None:
        """What a repetition of it takes."""
        self.took_s.setdefault(sample.iteration, []).append(seconds)

    def _in_time(self, iteration: int) -> bool:
        left_s = self.left_s
        return left_s is None or self._expected_s(iteration) <= left_s

    def _expected_s(self, iteration: int) -> float:
        """The longest of its own so far, else the median of the others."""
        if own := self.took_s.get(iteration):
            return max(own)
        others = [seconds for each in self.took_s.values() for seconds in each]
        return median(others) if others else 0.0
