"""The kinds of criterion: files here and in `hosts/` that have one, and those of others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import SerializeAsAny

from plimsoll.plug_ins import PlugIns, kinds_of, registered
from plimsoll.text.kinds import OfKind
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.criteria.loss_ratio import LossRatio

_FOLDERS = ("plimsoll.trial.criteria", "plimsoll.trial.criteria.hosts")


@cache
def _ours() -> Mapping[str, type[Criterion]]:
    found = registered(_FOLDERS, "CRITERION")
    return {kind: model for model in found for kind in kinds_of(model)}


# By kind; a model is of several where one rule serves them, as of frames' faults.
CRITERIA = PlugIns(Criterion, "plimsoll.criteria", _ours)  # type: ignore[type-abstract]

# One entry of an experiment's `criteria`, distinguished by `kind`.
CriterionSettings = Annotated[SerializeAsAny[Criterion], OfKind(lambda: CRITERIA)]


def host_criteria_kinds() -> frozenset[str]:
    """The kinds of those that are about hosts."""
    return frozenset(
        kind for kind, model in CRITERIA.loadable().items() if issubclass(model, HostCriterion)
    )


# What a DUT may be allowed: several cores reorder flows against each other, rings resend.
AllowedFault = Literal["duplicate", "out-of-order"]


def default_criteria(allowed: Collection[AllowedFault] = ()) -> tuple[Criterion, ...]:
    """Those of the seed methodology, and that each frame comes back whole, once, in its order.

    And where it belongs. What the DUT is `allowed` is not judged.
    """
    faults = (FrameCount(kind="duplicate"), FrameCount(kind="out-of-order"))
    judged = (each for each in faults if each.kind not in allowed)
    return (LossRatio(), FrameCount(kind="corrupt"), FrameCount(kind="misdirected"), *judged)
