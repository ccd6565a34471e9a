"""The kinds of criterion: files here and in `hosts/` that have one, and those of others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Literal, get_args

from pydantic import SerializeAsAny

from plimsoll.plug_ins import foreign, loaded, registered, unloadable
from plimsoll.text.kinds import OfKind
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.criteria.loss_ratio import LossRatio

_FOLDERS = ("plimsoll.trial.criteria", "plimsoll.trial.criteria.hosts")
# Where another distribution names the model of its criterion.
_GROUP = "plimsoll.criteria"


def criteria() -> Mapping[str, type[Criterion]]:
    """By kind, ours first; a model is of several where one rule serves them, as of frames' faults.

    Raises MachineError where another distribution's does not load.
    """
    return {**_of_others(), **_ours()}


@cache
def _ours() -> Mapping[str, type[Criterion]]:
    return {kind: model for model in registered(_FOLDERS, "CRITERION") for kind in _kinds_of(model)}


def _of_others() -> Mapping[str, type[Criterion]]:
    found: dict[str, type[Criterion]] = {}
    for name, entry in foreign(_GROUP).items():
        model = loaded(entry, entry.value, entry.load)
        if not (isinstance(model, type) and issubclass(model, Criterion)):
            raise unloadable(entry, entry.value, "it is no Criterion")
        if name not in _kinds_of(model):
            raise unloadable(entry, entry.value, f"its kind is not {name}")
        found[name] = model
    return found


def _kinds_of(model: type[Criterion]) -> tuple[str, ...]:
    return get_args(model.model_fields["kind"].annotation)


# One entry of an experiment's `criteria`, distinguished by `kind`.
CriterionSettings = Annotated[SerializeAsAny[Criterion], OfKind(criteria)]


def host_criteria_kinds() -> frozenset[str]:
    """The kinds of those that are about hosts."""
    return frozenset(kind for kind, model in criteria().items() if issubclass(model, HostCriterion))


# What a DUT may be allowed: several cores reorder flows against each other, rings resend.
AllowedFault = Literal["duplicate", "out-of-order"]


def default_criteria(allowed: Collection[AllowedFault] = ()) -> tuple[Criterion, ...]:
    """Those of the seed methodology, and that each frame comes back whole, once, in its order.

    And where it belongs. What the DUT is `allowed` is not judged.
    """
    faults = (FrameCount(kind="duplicate"), FrameCount(kind="out-of-order"))
    judged = (each for each in faults if each.kind not in allowed)
    return (LossRatio(), FrameCount(kind="corrupt"), FrameCount(kind="misdirected"), *judged)
