"""Live traffic on a test bed of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from plimsoll.benchmark.live_traffic.live_settings import LiveSettings
from plimsoll.benchmark.live_traffic.live_traffic import LiveTraffic
from plimsoll.benchmark.testbed.bed_ledger import bed_ledger
from plimsoll.benchmark.testbed.testbed import BedPlan, testbed
from plimsoll.errors import InputError
from plimsoll.host.processes.priority import SHARING, favour
from plimsoll.observe.agent.settings import UNOBSERVED

_BY_DEFAULT = LiveSettings()


@contextmanager
def live_traffic(
    plan: BedPlan,
    *,
    command: str = "live",
    settings: LiveSettings = _BY_DEFAULT,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[LiveTraffic]:
    """Bring lab and generator up for live traffic, and take all down at the end.

    What is started is in a ledger of the kind `command`, and is undone after a kill as well.
    Nothing is observed or recorded, and neighbours of the experiment are not started. `tell`
    has what the user should know. Until then this process runs where it does not disturb them.
    Raises InputError for a simulated lab, for a generator that cannot change rates while it
    sends, and whatever bringing the test bed up raises.
    """
    if plan.lab.simulated:
        raise InputError(
            "a simulated DUT lives in simulated time, and has no live traffic",
            where="lab.kind",
            remedy="name a lab with ports, such as testpmd-memif or loopback",
        )
    if not plan.generator.capabilities.live:
        raise InputError(
            "this generator cannot change rates while it sends",
            where="generator",
            remedy="use kind: engine",
        )
    bare = replace(plan, observe=UNOBSERVED, noise=())
    with (
        bed_ledger(command, plan.lab) as ledger,
        testbed(bare, ledger, tell) as bed,
        bed.undisturbed(),
    ):
        for note in bed.notes:
            tell(note)
        if settings.shares_cpus and bed.shared_cpus.crowded:
            for pid in bed.polling_pids.values():
                favour(pid, SHARING)
        folder = None if ledger is None else ledger.directory.absolute() / "captured"
        traffic = LiveTraffic(bed, plan, settings, folder)
        try:
            yield traffic
        finally:
            traffic.close()
