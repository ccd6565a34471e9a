"""The kinds of lab: the modules of plimsoll.dut.labs, and those of other distributions."""

from __future__ import annotations

from typing import Annotated

from pydantic import SerializeAsAny, ValidationError

from plimsoll.dut.lab import Lab, LabModel
from plimsoll.dut.needs import LabNeeds
from plimsoll.errors import InputError
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime
from plimsoll.plug_ins import ByModule, PlugIns
from plimsoll.text.kinds import OfKind

# By `kind`.
_OURS: ByModule[LabModel] = ByModule("plimsoll.dut.labs", "LAB")
LABS = PlugIns(LabModel, "plimsoll.labs", lambda: _OURS)  # type: ignore[type-abstract]


def make_lab(
    settings: LabModel, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime = "ours"
) -> Lab:
    """The lab that the settings describe, not yet up. Its memory is `settings.megabytes`."""
    return settings.make(ledger, memory, lifetime)


def lab_kinds() -> dict[str, str]:
    """Every kind of lab with a line on what it is, or on why it does not load."""
    broken = {kind: f"does not load: {why.message}" for kind, why in LABS.unloadable().items()}
    return {kind: model.summary for kind, model in LABS.loadable().items()} | broken


def lab_needs() -> dict[str, LabNeeds]:
    """What each kind of lab that loads needs of the machine."""
    return {kind: model.needs() for kind, model in LABS.loadable().items()}


def lab_of_kind(kind: str) -> LabModel:
    """The settings of `kind`, all by default. Raises InputError where that is not possible."""
    if kind not in LABS:
        known = ", ".join(LABS)
        raise InputError(f"there is no kind {kind!r}", where="lab", remedy=f"choose from: {known}")
    try:
        return LABS[kind].model_validate({"kind": kind})
    except ValidationError:
        raise InputError(
            f"a lab of kind {kind} has no defaults",
            where="lab",
            remedy="describe it in an experiment and name that with --experiment",
        ) from None


# An experiment's `lab`, read as the kind that it names, whose module alone is imported.
LabSettings = Annotated[SerializeAsAny[LabModel], OfKind(lambda: LABS)]
