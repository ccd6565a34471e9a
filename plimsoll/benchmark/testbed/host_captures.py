"""What the observed hosts capture of themselves, for an audit, while the test bed comes up."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace

from plimsoll.dut.lab import Lab
from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.cpus import allowed_cpus
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.affinity import pinned_off
from plimsoll.observe.agent.settings import (
    AUDIT_OF_NODES,
    UNSEEN_TUNING,
    ObserveSettings,
    RemoteHost,
)
from plimsoll.trial.judging.dut_agreement import counter_sums
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.tune.host.capture.open_capture import RemoteCapture
from plimsoll.tune.host.view.host_view import HostView

# A small host answers within 2 s; one of 512 CPUs reads 40,000 files, at 30 us each where
# this was measured, and commands there have 10 s each. An unreachable host costs no more.
_MAX_S = 60.0
# Several times as long as the counters were read after the tester's last look at its ports.
_LATER_S = 0.5


@dataclass(frozen=True, slots=True)
class HostCapture:
    """That of one host, or why there is none."""

    host: RemoteHost
    coming: RemoteCapture | PlimsollError

    def view(self) -> HostView:
        """The host, once the capture has come. Raises PlimsollError."""
        if isinstance(self.coming, PlimsollError):
            raise self.coming
        return self.coming.view()


@dataclass(frozen=True, slots=True)
class HostCaptures:
    """One of each host, in the experiment's order."""

    of_hosts: tuple[HostCapture, ...] = ()

    def close(self) -> None:
        """End those that go on still, and forget what came; safe to repeat."""
        for each in self.of_hosts:
            if isinstance(each.coming, RemoteCapture):
                each.coming.close()


def start_captures(
    settings: ObserveSettings, busy: Collection[int], ledger: Ledger
) -> HostCaptures:
    """Ask every observed host at once, from CPUs that no polling loop uses.

    What comes lies with the ledger, and goes with it, whatever kills the run. Where there are
    no other CPUs, all has come, or the time is up, before this returns.
    """
    if not settings.enabled:
        return HostCaptures()
    with pinned_off(busy):
        captures = HostCaptures(tuple(_start(host, ledger) for host in settings.hosts))
    if not allowed_cpus() - frozenset(busy):
        for each in captures.of_hosts:
            if isinstance(each.coming, RemoteCapture):
                each.coming.wait()
    return captures


def _start(host: RemoteHost, ledger: Ledger) -> HostCapture:
    where = f"observe.hosts: {host.name}"
    if host.ssh is None:
        return HostCapture(host, MachineError(UNSEEN_TUNING, where=where, remedy=AUDIT_OF_NODES))
    try:
        coming = RemoteCapture(
            host.ssh,
            most_s=_MAX_S,
            where=where,
            environment=ledger.environment,
            folder=ledger.directory,
        )
    except PlimsollError as error:
        return HostCapture(host, error)
    return HostCapture(host, coming)


# Whether the DUT still sends after the drain, so that its counters are not those of the trial.
def with_later_counters(outcome: Outcome, lab: Lab) -> Outcome:
    """The outcome, with the DUT's counters read again where it counts more than came back.

    Raises LabDied and MachineError.
    """
    sums = counter_sums(outcome)
    if not any(each.direction == "out-of" and each.dut > each.tester for each in sums):
        return outcome
    time.sleep(_LATER_S)
    return replace(outcome, dut_later=lab.counters())
