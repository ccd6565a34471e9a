"""A method, as the record knows it: a command that leaves a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel

from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.units import format_pps

PER_DIRECTION = "pps per direction"
Better = Literal["higher", "lower"]


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
    `complete` is a run that a signal ended in good order, and that can be resumed.
    """

    answer: RunAnswer | None = None
    verdict: Verdict = "none"
    period: str | None = None
    complete: bool = True


def rate_text(pps: float) -> str:
    """A rate for people."""
    return f"{format_pps(pps)} per direction"


def intended_text(offered_pps: float, intended_pps: float) -> str:
    """What the offered load was to be, in brackets; empty where people read the same figure."""
    intended = format_pps(intended_pps)
    return "" if intended == format_pps(offered_pps) else f" ({intended} intended)"


def trial_outcome(load_pps: float, verdict: Verdict, number: int) -> RunOutcome:
    """What a run of one trial came to: that trial, by its number."""
    answer = RunAnswer(f"{rate_text(load_pps)}: {verdict}", "load", load_pps, PER_DIRECTION)
    return RunOutcome(answer, verdict, trial_period(number))


# A figure of a run, by which it can be compared with others.
@dataclass(frozen=True, slots=True)
class RunFigure:
    """One value of a run, with its unit and which way is the better one.

    A `lower_bound` is a load line that the tester or the search's maximum limits: the DUT may
    carry more. An `upper_bound` is the lowest load that a DUT failed at which has no load line: it
    carries less.
    """

    name: str
    value: float
    unit: str
    better: Better
    lower_bound: bool = False
    upper_bound: bool = False


R = TypeVar("R", bound=BaseModel)

# The search for the load line; journals of the first version name no method: there was one only.
LOAD_LINE = "load-line"


@dataclass(frozen=True, eq=False)
class Method(Generic[R]):
    """What a run is called, what it leaves, and what that comes to.

    `name` stands in journal and result.json, and `plimsoll <command>` leaves such a run.
    `result` is the model of result.json, published as <schema>.schema.json, and
    `outcome` says in one line what it found. `figures` are what runs of it are compared by
    beyond that and the latency and loss of its trial.

    A run of a `one_trial` method is over with its trial: that, in the journal, is its result,
    so there is no result.json and nothing to resume. With `by_criteria` the experiment's criteria
    alone judge, and a DUT that returns no frame can be measured. One `of_many_runs` leaves, in
    folders iteration-<number>/sample-<number>, run directories of other methods.
    """

    name: str
    command: str
    result: type[R]
    schema: str
    outcome: Callable[[R], RunOutcome]
    one_trial: bool = False
    by_criteria: bool = False
    of_many_runs: bool = False
    figures: Callable[[R], Iterable[RunFigure]] | None = None
