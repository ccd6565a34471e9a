"""Which samples of a matrix run are run, decided as it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from plimsoll.methods.matrix.combinations import Sample
from plimsoll.methods.matrix.result import SampleResult


class Course(Protocol):
    """Called before each sample, in their order."""

    def reason_to_skip(self, sample: Sample, results: Mapping[Sample, SampleResult]) -> str | None:
        """Why this one is left out, None where it is to be run.

        `results` are those so far, of earlier sessions and of those left out too.
        """

    def ended(self, sample: Sample, seconds: float) -> None:
        """The sample was run, and took so long."""


class RunAll:
    """Every sample is run."""

    def reason_to_skip(self, sample: Sample, results: Mapping[Sample, SampleResult]) -> str | None:
        """None."""
        del sample, results
        return None

    def ended(self, sample: Sample, seconds: float) -> None:
        """It makes no difference."""


class RunNone:
    """No sample is run here, for a reason: those that have a result elsewhere were brought."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def reason_to_skip(self, sample: Sample, results: Mapping[Sample, SampleResult]) -> str | None:
        """The reason, for each."""
        del sample, results
        return self._reason

    def ended(self, sample: Sample, seconds: float) -> None:
        """None is run."""
