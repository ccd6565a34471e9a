"""What a plugfest is to do, as its matrix keeps it: every cell, whether it can be run or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError

from plimsoll.benchmark.experiment.reading_interval import check_search_readings
from plimsoll.benchmark.whole_run.preflight import search_mistakes
from plimsoll.errors import InputError, PlimsollError
from plimsoll.host.ledger.cpu_claims import CpuTaken
from plimsoll.methods.matrix.plan import MatrixPlan, read_iteration, read_plan
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
            with experiment.placing():
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
