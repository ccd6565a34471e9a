"""The first trials of a search: what the DUT forwards in overload says where to look."""

from __future__ import annotations

from collections.abc import Sequence

from .candidate import Hint, LoadGrid, mean_loss_ratio
from .classification import TrialLog
from .goal import Goal, LoadSpan

_MAX_LOADS = 3


class Opening:
    """The maximum, what came through there, and a load next to that: bounds to begin with.

    `goals` are the first stages of all goals. A DUT that loses only what is too much then
    has a bound on either side. `loads` are those tried, in order.
    """

    def __init__(self, goals: Sequence[Goal], grid: LoadGrid) -> None:
        self._goals = goals
        self._grid = grid
        # Half of what the coarsest leaves open: a guess by what was forwarded is that good on
        # most DUTs, and where it is not, the steps double. (The peer benchmark: 3 % fewer trials
        # than with the whole on a hard limit, 3 % more for rfc2544 where capacity jitters by 2 %.)
        self._width = max(1, max(map(grid.width, goals)) // 2)
        self.loads: list[float] = []
        self._says_nothing = False
        # Who needs the longest trials says how long these are.
        self.goal = max(goals, key=lambda goal: goal.final_duration_s)

    @property
    def hint(self) -> Hint:
        """The last two loads; none where one was untestable, or failed without loss."""
        if self._says_nothing:
            return Hint()
        last = sorted(self.loads[-2:] if len(self.loads) == _MAX_LOADS else self.loads[-1:])
        return Hint(last[0], last[-1]) if last else Hint()

    def next_load(self, log: TrialLog, span: LoadSpan) -> float | None:
        """The next one; None when there is nothing more to learn from single trials."""
        if any(load > span.top_pps for load in self.loads) or span.ceiling_pps is not None:
            # The tester cannot offer this load: nobody knows what the DUT forwards there.
            self._says_nothing = True
            return None
        tried = [load for load in self.loads if log.at(self.goal, load)]
        if len(tried) < len(self.loads):
            return self.loads[-1]
        load = self._following(log, span)
        if load is not None:
            self.loads.append(load)
        return load

    def _following(self, log: TrialLog, span: LoadSpan) -> float | None:
        if not self.loads:
            return span.top_pps
        last = self.loads[-1]
        if len(self.loads) == _MAX_LOADS or last <= span.minimum_pps:
            return None
        place = self._grid.place(last)
        if self._is_lossy(log, last):
            if not mean_loss_ratio(self.goal, log, last):
                self._says_nothing = True
                return None
            forwarded = last * (1 - mean_loss_ratio(self.goal, log, last))
            aim = self._grid.place(forwarded) if forwarded > span.minimum_pps else 0.0
            return self._grid.load(self._far_from_minimum(min(aim, place - self._width)))
        if len(self.loads) == 1:
            return None
        above = self._grid.load(place + self._width)
        too_near = self._grid.place(self.loads[-2]) - self._width
        return above if self._grid.place(above) <= too_near else None

    def _far_from_minimum(self, place: float) -> float:
        return place if place >= self._width else 0.0

    def _is_lossy(self, log: TrialLog, load_pps: float) -> bool:
        """Whether any goal failed there."""
        return any(trial.high_loss for goal in self._goals for trial in log.at(goal, load_pps))
