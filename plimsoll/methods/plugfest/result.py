"""The result of a plugfest: its cells, what each carried, and by how much they differ."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.methods.matrix.result import SampleResult
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import PER_DIRECTION, Method, RunAnswer, RunOutcome
from plimsoll.record.results.conclusion import Conclusion, FigureJudgement
from plimsoll.record.trials.trial_record import Verdict, whole_verdict
from plimsoll.text.counted import counted

# measured: some repetition has a load line; none: the DUT carried no load of the search; invalid:
# the tester could not tell; failed: it ended with an error; refused: it was known beforehand that
# it could not be run; not-run: the run has not come to it.
CellState = Literal["measured", "none", "invalid", "failed", "refused", "not-run"]
Axis = Literal["dut", "chain", "noise", "generator"]


class CellPlace(RecordModel):
    """Where a cell stands on every axis."""

    number: int = Field(description="Counted from 1, in the order of the axes.")
    dut: str = Field(description="The DUT, by the name that the plugfest gives it.")
    chain: str = Field(description="p2p, or the lab's other way through guests.")
    flows: int = Field(description="Flows of each load stream.")
    frame_size: str = Field(description="Bytes with FCS, or the name of a mix.")
    noise: str = Field(description="The noise, by its name; empty where the plugfest has none.")
    generator: str = Field(
        description="The generator, by its name; empty where the plugfest has one."
    )

    @property
    def label(self) -> str:
        """For people."""
        frames = f"{self.frame_size} B" if self.frame_size.isdecimal() else self.frame_size
        flows = "1 flow" if self.flows == 1 else f"{self.flows:,} flows"
        parts = (self.dut, self.chain, flows, frames, self.noise, self.generator)
        return ", ".join(part for part in parts if part)


class MeasuredFigure(RecordModel):
    """One figure of a cell, a value of each repetition that has it."""

    name: str = Field(description="What was measured: load line, p50, p99 or p99.9 of a probe.")
    unit: str = Field(description="Of all values of the row: pps or ns.")
    better: Literal["higher", "lower"] = Field(
        description="Whether higher or lower values are the better ones."
    )
    values: tuple[float, ...] = Field(
        description="One value of each repetition that has the figure, in `unit`."
    )
    median: float = Field(description="The median of the values, in `unit`.")
    least: float | None = Field(
        description="Lower end of the median's exact 95 % interval, in `unit`; null below six "
        "values."
    )
    most: float | None = Field(
        description="Upper end of the median's exact 95 % interval, in `unit`; null below six "
        "values."
    )


class PlugfestCell(CellPlace):
    """The result of one cell."""

    state: CellState = Field(
        description="measured: some repetition has a load line; none: the DUT carried no load of "
        "the search; invalid: inconclusive because of the tester; failed: it ended with an "
        "error; refused: it cannot be run here; not-run: not run yet."
    )
    reason: str | None = Field(description="Why it has no load line; null if it has a load line.")
    settled: bool = Field(
        description="Whether it was repeated no further as its median is known well enough."
    )
    figures: tuple[MeasuredFigure, ...] = Field(
        description="One row for each figure that some repetition has."
    )
    samples: tuple[SampleResult, ...] = Field(
        description="Its repetitions, those left out with the reason; none of a refused cell."
    )
    causes: str | None = Field(
        default=None,
        description="By the kernel's events, what had the polled CPUs; null where unknown.",
    )

    def figure(self, name: str) -> MeasuredFigure | None:
        """The figure of that name; None where no repetition has it."""
        return next((each for each in self.figures if each.name == name), None)


class CellDifference(RecordModel):
    """A figure's difference between a cell and one that differs on one axis only."""

    axis: Axis = Field(description="The axis on which the two cells differ.")
    cell: int = Field(description="The number of the cell that is compared.")
    baseline: int = Field(description="The number of the cell that it is held against.")
    figure: str = Field(description="What is compared, by its name.")
    unit: str = Field(description="Of all values of the row: pps or ns.")
    estimate: float = Field(
        description="The median of all pairwise differences (Hodges and Lehmann), in `unit`."
    )
    least: float | None = Field(
        description="Lower end of the estimate's exact 95 % interval, in `unit`; null with too few "
        "repetitions."
    )
    most: float | None = Field(
        description="Upper end of the estimate's exact 95 % interval, in `unit`; null with too few "
        "repetitions."
    )
    relative: float | None = Field(
        description="The estimate as a share of the baseline's median; null without one."
    )
    judgement: FigureJudgement = Field(
        description="What the interval says: better, worse, no difference seen, or cannot tell."
    )
    conclusion: Conclusion | None = Field(
        default=None,
        description="Better, worse, the same, or cannot tell, which headlines go by; null in "
        "records of older versions.",
    )


class RanSample(RecordModel):
    """One repetition in the order in which they were run, and how long it took."""

    cell: int = Field(description="The number of the cell.")
    repetition: int = Field(description="The number of the repetition, from 1.")
    seconds: float = Field(description="How long it took, lab and calibration included, in s.")


class PlugfestResult(RecordModel):
    """What a plugfest found. Every repetition is a run of its own, in `samples[].directory`."""

    method: Literal["plugfest"] = Field(
        default="plugfest", description="What was run, by the name of its command."
    )
    run_id: str = Field(description="The run directory's name.")
    name: str = Field(description="The name in the file that was run.")
    seed: int = Field(description="From which the order of each round was drawn.")
    repetitions: int = Field(description="How many of each cell were requested.")
    settled: float = Field(
        description="How wide the median's interval may be, as a share of it, for a cell to be "
        "repeated no further."
    )
    budget_s: float | None = Field(
        description="Time limit of the whole plugfest, in s; null without a limit."
    )
    spent_s: float = Field(description="Duration of all sessions together, in s.")
    baseline: str = Field(description="The DUT that the others are held against, by its name.")
    frames: dict[str, str] = Field(
        description="The mixes of frame sizes, by name: sizes in bytes with FCS, and weights."
    )
    cells: tuple[PlugfestCell, ...] = Field(
        description="One entry for each combination of the axes."
    )
    differences: tuple[CellDifference, ...] = Field(
        description="One row for each figure of two cells that differ on one axis."
    )
    ran: tuple[RanSample, ...] = Field(
        description="The repetitions, in the order in which they were run."
    )
    versions: dict[str, str | None] = Field(
        description="Versions by component (plimsoll, engine, DPDK, Python); null of one not used."
    )

    @property
    def measured(self) -> tuple[PlugfestCell, ...]:
        """The cells that have a load line."""
        return tuple(cell for cell in self.cells if cell.state == "measured")

    @property
    def samples(self) -> tuple[SampleResult, ...]:
        """Those of all cells."""
        return tuple(sample for cell in self.cells for sample in cell.samples)

    @property
    def verdict(self) -> Verdict:
        """Fail where a DUT carried no load, invalid where a cell has none that is known."""
        by_state: dict[CellState, Verdict] = {"none": "fail", "invalid": "invalid"}
        if not self.measured:
            return whole_verdict(by_state.get(cell.state) for cell in self.cells)
        return whole_verdict(by_state.get(cell.state, "pass") for cell in self.cells)

    @property
    def error_code(self) -> int | None:
        """That of the first repetition that ended with an error in a cell without a load line."""
        failed = (cell for cell in self.cells if cell.state == "failed")
        codes = (each.error_code for cell in failed for each in cell.samples)
        return next((code for code in codes if code is not None), None)

    def cell(self, number: int) -> PlugfestCell:
        """The cell of that number. Raises KeyError."""
        found = next((each for each in self.cells if each.number == number), None)
        if found is None:
            raise KeyError(number)
        return found


def _outcome(result: PlugfestResult) -> RunOutcome:
    duts = len({cell.dut for cell in result.cells})
    text = (
        f"{len(result.measured)} of {counted(len(result.cells), 'cell')} of {counted(duts, 'DUT')}"
    )
    answer = RunAnswer(text, "cells", None, PER_DIRECTION)
    return RunOutcome(answer, result.verdict)


METHOD = Method(
    "plugfest",
    command="plugfest",
    result=PlugfestResult,
    schema="plugfest-result",
    outcome=_outcome,
    by_criteria=True,
    of_many_runs=True,
)
