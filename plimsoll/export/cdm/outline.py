"""What of a run is an iteration, a sample and a period, as Crucible understands them.

An iteration is one combination of parameters: the trials with the same frames, and of the same
part of a standard test; in a matrix, what the matrix calls so. It has one sample, or as many as
the matrix ran. A trial is a period; the one that the result rests on is also `measurement`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.export.cdm.params import Param
from plimsoll.export.metric_batches import RecordedPeriod
from plimsoll.record.run.run_directory import RunDirectory

# Crucible's trafficgen has this metric as its first, and calls the period so.
PRIMARY_SOURCE = "trafficgen"
PRIMARY_TYPE = "rx-pps"
PRIMARY_PERIOD = "measurement"


@dataclass(frozen=True, slots=True)
class CdmSample:
    """One repetition of an iteration, with its periods; `run` holds their metrics.

    `folder` is that directory within the run's own: empty but in a matrix. `primary` is the
    name of the trial that the result rests on, None before any has ended. `phases` has the
    phase of each trial that has ended, such as calibration or search, by its period's name.
    """

    run: RunDirectory
    folder: str
    number: int
    passed: bool
    periods: tuple[RecordedPeriod, ...]
    primary: str | None
    phases: Mapping[str, str]

    @property
    def all_periods(self) -> Iterator[RecordedPeriod]:
        """The trials, and last the one that the result rests on under its other name."""
        yield from self.periods
        for period in self.periods:
            if period.name == self.primary:
                yield replace(period, name=PRIMARY_PERIOD)


@dataclass(frozen=True, slots=True)
class CdmIteration:
    """One combination of parameters."""

    number: int
    params: tuple[Param, ...]
    samples: tuple[CdmSample, ...]

    @property
    def passed(self) -> bool:
        """Whether there is a sample that gave a result."""
        return any(sample.passed for sample in self.samples)


@dataclass(frozen=True, slots=True)
class Outline:
    """A run: its id, when it was started (ns since the epoch), its iterations; never empty."""

    run_id: str
    started_unix_ns: int
    iterations: tuple[CdmIteration, ...]

    @property
    def samples(self) -> Sequence[CdmSample]:
        """Those of all iterations."""
        return [sample for iteration in self.iterations for sample in iteration.samples]

    @property
    def moved(self) -> tuple[RecordedPeriod, ...]:
        """The periods that are shown later than they were, as their times lay over others'."""
        return tuple(p for sample in self.samples for p in sample.periods if p.moved_ms)

    @property
    def begin_ms(self) -> int:
        """When the first period began, in ms since the epoch."""
        return min(period.begin_ms for each in self.samples for period in each.periods)

    @property
    def end_ms(self) -> int:
        """When the last period ended, in ms since the epoch."""
        return max(period.end_ms for each in self.samples for period in each.periods)
