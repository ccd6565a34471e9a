"""What a list of checkpoints does, with every load in pps per direction."""

from __future__ import annotations

from dataclasses import dataclass

from ..strategy.question import TrialManner


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """CheckpointSettings with every load in pps: ascending, each once, never none.

    Without `validation` a checkpoint's own trials decide. `reach_pps` is the highest load
    that the tester can offer, None where it is not known to be below one of them.
    """

    loads_pps: tuple[float, ...]
    checkpoint: TrialManner
    validation: TrialManner | None
    reach_pps: float | None = None
