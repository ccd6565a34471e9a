"""What a plugfest is to do, as its matrix keeps it: every cell, whether it can be run or not."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError

from plimsoll.errors import InputError
from plimsoll.methods.matrix.plan import MatrixPlan, read_plan
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
