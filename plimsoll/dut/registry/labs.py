"""The kinds of lab there are. A new kind is one file, and one line in LabSettings."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field, ValidationError

from plimsoll.dut.external import ExternalSettings
from plimsoll.dut.kernel.linux_bridge import LinuxBridgeSettings
from plimsoll.dut.kernel.linux_router import LinuxRouterSettings
from plimsoll.dut.kernel.macvlan import MacvlanSettings
from plimsoll.dut.kernel.tc_redirect import TcRedirectSettings
from plimsoll.dut.kernel.xdp import XdpSettings
from plimsoll.dut.lab import Lab, LabModel
from plimsoll.dut.loopback import LoopbackSettings
from plimsoll.dut.needs import LabNeeds
from plimsoll.dut.ovs.ovs import OvsSettings
from plimsoll.dut.ovs.ovs_dpdk import OvsDpdkSettings
from plimsoll.dut.simulated import SimulatedSettings
from plimsoll.dut.userspace.grout import GroutSettings
from plimsoll.dut.userspace.testpmd import TestpmdOnCardsSettings, TestpmdSettings
from plimsoll.dut.userspace.vpp import VppSettings
from plimsoll.errors import InputError
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime

LabSettings = Annotated[
    TestpmdSettings
    | TestpmdOnCardsSettings
    | GroutSettings
    | VppSettings
    | LinuxBridgeSettings
    | LinuxRouterSettings
    | MacvlanSettings
    | XdpSettings
    | TcRedirectSettings
    | OvsSettings
    | OvsDpdkSettings
    | LoopbackSettings
    | ExternalSettings
    | SimulatedSettings,
    Field(discriminator="kind"),
]


def make_lab(
    settings: LabModel, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime = "ours"
) -> Lab:
    """The lab that the settings describe, not yet up. Its memory is `settings.megabytes`."""
    return settings.make(ledger, memory, lifetime)


def lab_kinds() -> dict[str, str]:
    """Every kind of lab with a line on what it is."""
    return {kind: model.summary for kind, model in _models().items()}


def lab_needs() -> dict[str, LabNeeds]:
    """What each kind of lab needs of the machine."""
    return {kind: model.needs() for kind, model in _models().items()}


def lab_of_kind(kind: str) -> LabModel:
    """The settings of `kind`, all by default. Raises InputError where that is not possible."""
    model = _models().get(kind)
    if model is None:
        known = ", ".join(_models())
        raise InputError(f"there is no kind {kind!r}", where="lab", remedy=f"choose from: {known}")
    try:
        return model()
    except ValidationError:
        raise InputError(
            f"a lab of kind {kind} has no defaults",
            where="lab",
            remedy="describe it in an experiment and name that with --experiment",
        ) from None


def _models() -> dict[str, type[LabModel]]:
    models: tuple[type[LabModel], ...] = get_args(get_args(LabSettings)[0])
    return {model.model_fields["kind"].default: model for model in models}
