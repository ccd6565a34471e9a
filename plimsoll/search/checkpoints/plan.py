"""What a list of checkpoints does, with every load in pps per direction."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.search.question import TrialManner


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """CheckpointSettings with every load in pps: ascending, each once, never none.

    Without `validation` a checkpoint's own trials decide.
    """

    loads_pps: tuple[float, ...]
    checkpoint: TrialManner
    validation: TrialManner | None
