"""What to say of an object beside the one that was wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from plimsoll.tune.audit.finding import (
    Judgement,
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
from plimsoll.tune.cluster.objects.wanted_object import WantedObject
from plimsoll.tune.kubernetes.kube_object import KubeObject

T = TypeVar("T")

_MOST_TOLD = 8


def judge_object(view: ClusterView, wanted: WantedObject) -> Judgement:
    """Whether the object is there and as wanted. Raises CannotRead."""
    found = view.find(wanted.kind, wanted.name, wanted.namespace)
    if found is None:
        return _judge_missing(view, wanted)
    return judge_found(wanted, found)


def _judge_missing(view: ClusterView, wanted: WantedObject) -> Judgement:
    known = view.knows(wanted.kind)
    why = "" if known else f": the cluster has no kind {wanted.kind.resource}"
    return fail(
        f"there is no {wanted.title}{why}",
        wanted=f"the {wanted.title} of plimsoll tune render",
        steps=[_apply(wanted) if known else _install(wanted.kind)],
    )


def judge_found(wanted: WantedObject, found: KubeObject) -> Judgement:
    """What the found object lacks of the wanted; more than was wanted is only warned of."""
    lacks = wanted.differences(found)
    if not lacks:
        return ok(f"{wanted.title} is as rendered", Reading(wanted.title, "found"))
    read = [Reading(f"{wanted.title} {each.path}", _value(each)) for each in lacks[:_MOST_TOLD]]
    text = f"{wanted.title}: {told(str(each) for each in lacks)}"
    wishes = told(
        f"{each.path} {each.wanted}" for each in lacks if each.kind in ("missing", "different")
    )
    judge = warn if all(each.beyond for each in lacks) else fail
    return judge(text, *read, wanted=wishes, steps=[_apply(wanted)])


def sum_up(parts: Iterable[Judgement]) -> Judgement:
    """The worst of several; what is sound is told only where all is."""
    given = list(parts)
    return worst_of([each for each in given if _is_amiss(each)] or given)


def judge_each(
    items: Sequence[T], judge: Callable[[T], Judgement], *, none: str, sound: str
) -> Judgement:
    """One judgement of many: of those that are not sound, else `sound`; `none` for no items."""
    if not items:
        return not_applicable(none)
    parts = [tell(partial(judge, each)) for each in items]
    amiss = [part for part in parts if _is_amiss(part)]
    if not amiss:
        applies = [part for part in parts if part.verdict == "ok"]
        read = (each for part in applies for each in part.read)
        return ok(sound, *list(read)[:_MOST_TOLD]) if applies else worst_of(parts)
    shown = worst_of(amiss[:_MOST_TOLD])
    if len(amiss) <= _MOST_TOLD:
        return shown
    more = f"{shown.text}; and {len(amiss) - _MOST_TOLD} more"
    return Judgement(shown.verdict, more, shown.read, shown.wanted, shown.steps)


def told(parts: Iterable[str]) -> str:
    """All of a few, the first of many."""
    given = list(parts)
    more = [f"and {len(given) - _MOST_TOLD} more"] if len(given) > _MOST_TOLD else []
    return ", ".join([*given[:_MOST_TOLD], *more])


def _value(difference: Difference) -> str:
    return difference.found or "not set"


def _apply(wanted: WantedObject) -> Step:
    return advice(f"render the intent (plimsoll tune render) and apply its {wanted.title}")


def _install(kind: Kind) -> Step:
    return advice(f"install the operator that brings {kind.resource}")


def _is_amiss(part: Judgement) -> bool:
    return part.verdict in ("fail", "warn", "unknown")
