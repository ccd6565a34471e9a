"""The result of a matrix: its iterations, and the load line that each sample found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import JsonValue

from plimsoll.record.goal_end import LimitedBy
from plimsoll.record.record_model import RecordModel
from plimsoll.record.result import Result
from plimsoll.record.whole_file import write_whole


class SampleResult(RecordModel):
    """One run of an iteration, in `directory` below the matrix run's own.

    `load_line_pps` is per direction, null where none was found (`reason` says why) or the
    run ended with `error`.
    """

    number: int
    directory: str
    load_line_pps: float | None
    limited_by: LimitedBy | None
    reason: str | None
    error: str | None

    @classmethod
    def found(cls, number: int, directory: str, result: Result) -> Self:
        """Of a run that came to its result."""
        line = result.load_line
        return cls(
            number=number,
            directory=directory,
            load_line_pps=None if line is None else line.pps_per_direction,
            limited_by=result.limited_by,
            reason=result.reason,
            error=None,
        )

    @classmethod
    def failed(cls, number: int, directory: str, error: str) -> Self:
        """Of a run that did not."""
        return cls(
            number=number,
            directory=directory,
            load_line_pps=None,
            limited_by=None,
            reason=None,
            error=error,
        )


class Spread(RecordModel):
    """The load lines of an iteration's samples, in pps per direction.

    `relative` is the highest less the lowest, as a share of the mean.
    """

    samples: int
    mean_pps: float
    min_pps: float
    max_pps: float
    relative: float

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

    number: int
    params: dict[str, JsonValue]
    samples: tuple[SampleResult, ...]
    load_line: Spread | None

    @classmethod
    def of(
        cls, number: int, params: Mapping[str, JsonValue], samples: Sequence[SampleResult]
    ) -> Self:
        """The iteration with its spread."""
        loads = [each.load_line_pps for each in samples if each.load_line_pps is not None]
        return cls(
            number=number, params=dict(params), samples=tuple(samples), load_line=Spread.of(loads)
        )


class MatrixResult(RecordModel):
    """What a matrix found, iteration by iteration. Its runs have records of their own."""

    method: Literal["matrix"] = "matrix"
    run_id: str
    name: str
    order: str
    seed: int
    iterations: tuple[IterationResult, ...]
    versions: dict[str, str | None]

    @property
    def complete(self) -> bool:
        """Whether every sample of every iteration found a load line."""
        samples = [each for iteration in self.iterations for each in iteration.samples]
        return all(each.load_line_pps is not None for each in samples)

    def write(self, path: Path) -> None:
        """Write result.json. Raises RecordError."""
        write_whole(path, self.model_dump_json(indent=2) + "\n")
