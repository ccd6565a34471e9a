"""A method, as the record knows it: a command that leaves a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from plimsoll.record.methods.run_outcome import RunFigure, RunOutcome

R = TypeVar("R", bound=BaseModel)

# The search for the load line; journals of the first version name no method: there was one only.
LOAD_LINE = "load-line"


@dataclass(frozen=True, eq=False)
class Method(Generic[R]):
    """What a run is called, what it leaves, and what that comes to.

    `name` stands in journal and result.json, and `plimsoll <command>` leaves such a run.
    `result` is the model of result.json, published as docs/schemas/<schema>.schema.json, and
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
