"""Rules about the latency of certain streams."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.traffic.plan import Role, StreamPlan
from plimsoll.trial.criteria.criterion import Criterion


class StreamCriterion(Criterion):
    """One rule on the latency of each stream of a role.

    `stream` narrows it to the profile's stream of that name. Samples that a stall of the
    tester touched are in no value, as they may measure the tester.
    """

    role: Role = "latency"
    stream: str | None = None

    def concerned(self, streams: Iterable[StreamPlan]) -> list[StreamPlan]:
        """Those that the rule is about."""
        return [plan for plan in streams if self._concerns(plan)]

    @property
    def none_concerned(self) -> str:
        """What to say where there are none."""
        selected = f"stream {self.stream}" if self.stream else f"{self.role} stream"
        return f"there is no {selected} to judge"

    def _concerns(self, plan: StreamPlan) -> bool:
        named = self.stream is None or self.stream in (plan.name, plan.name.rpartition("/")[0])
        return named and plan.role == self.role and not plan.filtered
