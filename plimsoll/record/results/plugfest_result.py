"""The result of a plugfest: its cells, what each carried, and by how much they differ."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.conclusion import Conclusion
from plimsoll.record.results.matrix_result import SampleResult
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.record.trials.whole_verdict import whole_verdict

# measured: some repetition has a load line; none: the DUT carried no load of the search; invalid:
# the tester could not tell; failed: it ended with an error; refused: it was known beforehand that
# it could not be run; not-run: the run has not come to it.
CellState = Literal["measured", "none", "invalid", "failed", "refused", "not-run"]
Axis = Literal["dut", "chain", "noise", "generator"]
DutJudgement = Literal["better", "worse", "no difference seen", "cannot tell"]


class CellPlace(RecordModel):
    """Where a cell stands on every axis."""

    number: int = Field(description="Counted from 1, in the order of the axes.")
    dut: str
    chain: str
    flows: int
    frame_size: str = Field(description="Bytes with FCS, or the name of a mix.")
    noise: str
    generator: str

    @property
    def label(self) -> str:
        """For people."""
        frames = f"{self.frame_size} B" if self.frame_size.isdecimal() else self.frame_size
        flows = "1 flow" if self.flows == 1 else f"{self.flows:,} flows"
        parts = (self.dut, self.chain, flows, frames, self.noise, self.generator)
        return ", ".join(part for part in parts if part)


class MeasuredFigure(RecordModel):
    """One figure of a cell, a value of each repetition that has it.

    `least` and `most` bound the median with 95 % confidence; null below six values.
    """

    name: str
    unit: str
    better: Literal["higher", "lower"]
    values: tuple[float, ...]
    median: float
    least: float | None
    most: float | None


class PlugfestCell(CellPlace):
    """What came of one cell."""

    state: CellState
    reason: str | None = Field(description="Why it has no load line; null where it has one.")
    settled: bool = Field(
        description="Whether it was repeated no further as its median is known well enough."
    )
    figures: tuple[MeasuredFigure, ...]
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
    """By how much a figure of `cell` is off that of `baseline`, which differs on `axis` alone.

    `estimate` is the median of all pairwise differences (Hodges and Lehmann), `least` and `most`
    its exact 95 % interval, null where there are too few repetitions; `relative` is the estimate
    as a share of the baseline's median.
    """

    axis: Axis
    cell: int
    baseline: int
    figure: str
    unit: str
    estimate: float
    least: float | None
    most: float | None
    relative: float | None
    judgement: DutJudgement
    conclusion: Conclusion | None = Field(
        default=None,
        description="Better, worse, the same, or cannot tell, which headlines go by; null in "
        "records of older versions.",
    )


class RanSample(RecordModel):
    """One repetition in the order in which they were run, and how long it took."""

    cell: int
    repetition: int
    seconds: float


class PlugfestResult(RecordModel):
    """What a plugfest found. Every repetition is a run of its own, in `samples[].directory`."""

    method: Literal["plugfest"] = "plugfest"
    run_id: str
    name: str
    seed: int
    repetitions: int
    settled: float
    budget_s: float | None
    spent_s: float
    baseline: str
    frames: dict[str, str]
    cells: tuple[PlugfestCell, ...]
    differences: tuple[CellDifference, ...]
    ran: tuple[RanSample, ...]
    versions: dict[str, str | None]

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
