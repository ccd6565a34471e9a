"""Where a thing has two types for a reason, each keeps what the other has."""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.dut.lab import DutPortCounters
from plimsoll.dut.ovs.switch import SwitchPortCounts
from plimsoll.generator.interface import PortCounts, ResolvedAddress, WorkerCounts
from plimsoll.host.namespaces.network_namespace import LinkCounters
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.record.causes.causes_record import LoopRecord
from plimsoll.record.causes.kernel_events import KeptEvent
from plimsoll.record.run.audit_record import AuditFinding, AuditStep
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.tester_record import PortRecord, ResolvedRecord, WorkerRecord
from plimsoll.record.trials.trial_record import DutPortRecord
from plimsoll.trial.outcome.finding import Finding
from plimsoll.tune.audit.finding import CheckFinding, Step

# The two types, and the fields that only the first, or only the second, has.
PAIRS: list[tuple[Any, Any, set[str], set[str]]] = [
    # Histograms of the hot path, and their quantiles.
    (WorkerCounts, WorkerRecord, set(), set()),
    # A trial whose link went down ended by that, and says so.
    (PortCounts, PortRecord, {"link_up"}, set()),
    # Whom nobody answered for, and whom frames were sent to.
    (ResolvedAddress, ResolvedRecord, set(), set()),
    # What spoils a trial has made it invalid by then.
    (Finding, FindingRecord, {"invalidates_trial"}, set()),
    # Since the DUT's start, and over one trial.
    (DutPortCounters, DutPortRecord, set(), set()),
    # Which streams it handles is for the attribution alone.
    (PollingLoop, LoopRecord, {"streams"}, set()),
    # A hundred thousand a second, and those few that lie near an incident.
    (KernelEvent, KeptEvent, set(), {"incident", "host"}),
    # OpenFlow's words and the kernel's, compared as they are.
    (SwitchPortCounts, LinkCounters, set(), set()),
    # How a step is fitted to a host is over when it is recorded.
    (CheckFinding, AuditFinding, set(), set()),
    (Step, AuditStep, {"openshift", "lasts", "takes", "boot_arguments"}, set()),
]


def names(of: Any) -> set[str]:
    if is_dataclass(of):
        return {each.name for each in fields(of)}
    if issubclass(of, BaseModel):
        return set(of.model_fields)
    return set(of.__struct_fields__)


@pytest.mark.parametrize(
    ("one", "other", "only_one", "only_other"), PAIRS, ids=[pair[0].__name__ for pair in PAIRS]
)
def test_what_one_has_the_other_has(
    one: Any, other: Any, only_one: set[str], only_other: set[str]
) -> None:
    assert names(one) - names(other) == only_one
    assert names(other) - names(one) == only_other
