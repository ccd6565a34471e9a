"""A check of a cluster: one question about its objects, judged against the declared intent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.tune.audit.finding import CheckFinding, CheckJudgement, not_applicable, tell
from plimsoll.tune.cluster.cluster_view import ClusterView
from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent

ClusterRule = Callable[[ClusterView, Intent], CheckJudgement]
PoolRule = Callable[[ClusterView, Intent, Pool], CheckJudgement]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCheck:
    """Numbers start at 101, after those of the checks of a host.

    `reads` are the kinds that the rule asks the cluster for. A `pool_rule` is for intents of
    OpenShift alone, which have a pool of nodes; exactly one of it and `rule` is given.
    """

    number: int
    name: str
    title: str
    reads: tuple[Kind, ...]
    why: str
    fix: str
    sources: tuple[str, ...]
    rule: ClusterRule | None = None
    pool_rule: PoolRule | None = None

    def __post_init__(self) -> None:
        if (self.rule is None) == (self.pool_rule is None):
            raise ValueError(f"check {self.number} takes one of rule and pool_rule")

    def judge(self, view: ClusterView, intent: Intent) -> CheckFinding:
        """The finding. What cannot be read makes the verdict unknown; nothing is raised."""
        found = tell(lambda: self._judgement(view, intent))
        return CheckFinding(
            number=self.number,
            name=self.name,
            group="cluster",
            title=self.title,
            verdict=found.verdict,
            text=found.text,
            read=found.read,
            expected=found.expected,
            steps=found.steps,
            why=self.why,
            fix=self.fix,
            sources=self.sources,
        )

    def _judgement(self, view: ClusterView, intent: Intent) -> CheckJudgement:
        if self.rule is not None:
            return self.rule(view, intent)
        if intent.pool is None or intent.platform != "openshift" or self.pool_rule is None:
            return not_applicable(f"the intent is for {intent.platform}, not for OpenShift")
        return self.pool_rule(view, intent, intent.pool)
