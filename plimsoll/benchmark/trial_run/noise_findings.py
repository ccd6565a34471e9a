"""What makes a trial invalid whose noise was not what the experiment says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.neighbours.neighbour_run import NeighbourRun
from plimsoll.trial.outcome.finding import Finding

_RULE = "noise"


def noise_findings(runs: Sequence[NeighbourRun]) -> Iterator[Finding]:
    """A finding for each neighbour that ended before the trial did."""
    for run in runs:
        if run.ended_early is not None:
            yield Finding(
                rule=_RULE,
                subject=run.name,
                value=None,
                limit=None,
                unit="",
                outcome="invalid",
                text=f"the neighbour {run.name} {run.ended_early} before the trial was over",
                spoils=True,
            )
