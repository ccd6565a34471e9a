"""How an object is judged against the one expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from plimsoll.tune.audit.finding import (
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
from plimsoll.tune.cluster.cluster_view import ClusterView
from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.cluster.objects.difference import Difference
from plimsoll.tune.cluster.objects.expected_object import ExpectedObject
from plimsoll.tune.kubernetes.kube_object import KubeObject

T = TypeVar("T")

_MOST_NAMED = 8


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
    read = [Reading(f"{expected.title} {each.path}", _value(each)) for each in lacks[:_MOST_NAMED]]
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
        return ok(sound, *list(read)[:_MOST_NAMED]) if applies else worst_of(parts)
    shown = worst_of(amiss[:_MOST_NAMED])
    if len(amiss) <= _MOST_NAMED:
        return shown
    more = f"{shown.text}; and {len(amiss) - _MOST_NAMED} more"
    return CheckJudgement(shown.verdict, more, shown.read, shown.expected, shown.steps)


def abbreviated(parts: Iterable[str]) -> str:
    """All of a few, the first of many."""
    given = list(parts)
    more = [f"and {len(given) - _MOST_NAMED} more"] if len(given) > _MOST_NAMED else []
    return ", ".join([*given[:_MOST_NAMED], *more])


def _value(difference: Difference) -> str:
    return difference.found or "not set"


def _apply(expected: ExpectedObject) -> Step:
    return advice(f"render the intent (plimsoll tune render) and apply its {expected.title}")


def _install(kind: Kind) -> Step:
    return advice(f"install the operator that brings {kind.resource}")


def _is_amiss(part: CheckJudgement) -> bool:
    return part.verdict in ("fail", "warn", "unknown")
