"""A check of a cluster: one question about its objects, and how each is judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from plimsoll.tune.audit.finding import (
    CheckFinding,
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    tell,
    warn,
    worst_of,
)
from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.cluster.objects.expected_object import Difference, ExpectedObject
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, name_of


class ClusterView(ABC):
    """A cluster's objects by kind. Nothing is ever written. `where` names the source."""

    where: str = "this cluster"

    @abstractmethod
    def listed(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...] | Unread:
        """All objects of `kind`, in one namespace or in all.

        An Unread of cause "absent" says that the cluster has no such kind at all; any other
        that it is unknown.
        """

    def need(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...]:
        """The objects, none where the cluster does not have the kind. Raises CannotRead."""
        found = self.listed(kind, namespace)
        if not isinstance(found, Unread):
            return found
        if found.cause == "absent":
            return ()
        raise CannotRead(found)

    def find(self, kind: Kind, name: str, namespace: str | None = None) -> KubeObject | None:
        """The object of that name; None where there is none. Raises CannotRead."""
        found = (each for each in self.need(kind, namespace) if name_of(each) == name)
        return next(found, None)

    def knows(self, kind: Kind) -> bool:
        """Whether the cluster has the kind; assumed to have it where that is unknown."""
        found = self.listed(kind)
        return not (isinstance(found, Unread) and found.cause == "absent")


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


T = TypeVar("T")

_MAX_NAMED = 8


def judge_object(view: ClusterView, expected: ExpectedObject) -> CheckJudgement:
    """Whether the object is there and as expected. Raises CannotRead."""
    found = view.find(expected.kind, expected.name, expected.namespace)
    if found is None:
        return _judge_missing(view, expected)
    return judge_found(expected, found)


def _judge_missing(view: ClusterView, expected: ExpectedObject) -> CheckJudgement:
    known = view.knows(expected.kind)
    why = "" if known else f": the cluster has no kind {expected.kind.resource}"
    return fail(
        f"there is no {expected.title}{why}",
        expected=f"the {expected.title} of plimsoll tune render",
        steps=[_apply(expected) if known else _install(expected.kind)],
    )


def judge_found(expected: ExpectedObject, found: KubeObject) -> CheckJudgement:
    """What the found object lacks of the expected; more than was expected is only warned of."""
    lacks = expected.differences(found)
    if not lacks:
        return ok(f"{expected.title} is as rendered", Reading(expected.title, "found"))
    read = [Reading(f"{expected.title} {each.path}", _value(each)) for each in lacks[:_MAX_NAMED]]
    text = f"{expected.title}: {abbreviated(str(each) for each in lacks)}"
    wishes = abbreviated(
        f"{each.path} {each.expected}" for each in lacks if each.kind in ("missing", "different")
    )
    judge = warn if all(each.beyond for each in lacks) else fail
    return judge(text, *read, expected=wishes, steps=[_apply(expected)])


def sum_up(parts: Iterable[CheckJudgement]) -> CheckJudgement:
    """The worst of several; what is sound is named only where all is."""
    given = list(parts)
    return worst_of([each for each in given if _is_amiss(each)] or given)


def judge_each(
    items: Sequence[T], judge: Callable[[T], CheckJudgement], *, none: str, sound: str
) -> CheckJudgement:
    """One judgement of many: of those that are not sound, else `sound`; `none` for no items."""
    if not items:
        return not_applicable(none)
    parts = [tell(partial(judge, each)) for each in items]
    amiss = [part for part in parts if _is_amiss(part)]
    if not amiss:
        applies = [part for part in parts if part.verdict == "ok"]
        read = (each for part in applies for each in part.read)
        return ok(sound, *list(read)[:_MAX_NAMED]) if applies else worst_of(parts)
    shown = worst_of(amiss[:_MAX_NAMED])
    if len(amiss) <= _MAX_NAMED:
        return shown
    more = f"{shown.text}; and {len(amiss) - _MAX_NAMED} more"
    return CheckJudgement(shown.verdict, more, shown.read, shown.expected, shown.steps)


def abbreviated(parts: Iterable[str]) -> str:
    """All of a few, the first of many."""
    given = list(parts)
    more = [f"and {len(given) - _MAX_NAMED} more"] if len(given) > _MAX_NAMED else []
    return ", ".join([*given[:_MAX_NAMED], *more])


def _value(difference: Difference) -> str:
    return difference.found or "not set"


def _apply(expected: ExpectedObject) -> Step:
    return advice(f"render the intent (plimsoll tune render) and apply its {expected.title}")


def _install(kind: Kind) -> Step:
    return advice(f"install the operator that brings {kind.resource}")


def _is_amiss(part: CheckJudgement) -> bool:
    return part.verdict in ("fail", "warn", "unknown")
