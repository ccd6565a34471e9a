"""What every criterion is: settings that judge an outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from plimsoll.generator.interface import TrialPlan
from plimsoll.traffic.plan import Role, StreamPlan
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Baseline, Outcome


@dataclass(frozen=True, slots=True)
class LossBudget:
    """How many frames these streams may lose together, over the whole planned trial."""

    streams: frozenset[int]
    frames: float


@dataclass(frozen=True, slots=True)
class SampleBudget:
    """How many of a stream's latency samples may lie above `limit_ns` in the whole trial.

    With fewer than `needed` samples in all nothing is said.
    """

    stream: int
    limit_ns: float
    samples: int
    needed: int


class Criterion(BaseModel, ABC):
    """One rule a trial must meet, as written in an experiment under `criteria`.

    A subclass adds `kind: Literal[...]`, and its module names it as CRITERION.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str

    @property
    def needs_baseline(self) -> bool:
        """Whether it can only be evaluated against the latency at the lowest load."""
        return False

    @abstractmethod
    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """A finding for each subject, kept or broken.

        Where there is nothing to judge, or the tester's stalls explain what broke
        the rule, the finding is `invalid`; it is never `ok` by default.
        """

    def losses_allowed(self, plan: TrialPlan) -> list[LossBudget]:
        """What may be lost before this criterion is broken whatever follows; none by default."""
        return []

    def samples_allowed(self, plan: TrialPlan, baseline: Baseline | None) -> list[SampleBudget]:
        """The same of latency samples above a limit; none by default."""
        return []


# Rules about the latency of certain streams.
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
