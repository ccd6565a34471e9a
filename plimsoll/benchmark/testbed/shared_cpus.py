"""CPUs that Plimsoll's own processes share with polling loops, and what that requires."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.dut.lab import DutProcess
from plimsoll.generator.interface import LossLimit, TrialPlan, TrialReport
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.own_processes import own_processes_on
from plimsoll.host.processes.affinity import housekeeping_cpus, leaves_no_cpu
from plimsoll.host.processes.schedule_stats import pinned_to, polling_threads
from plimsoll.observe.agent.remote_trace import RemoteTrace
from plimsoll.trial.outcome.own_time import SelfOverhead

# A trial up to so long is silent until its end. The intervals of a longer one are handed over
# in pages: its windows are to be judged, and its record written, while it goes on.
_SILENT_S = 120.0
_PAGE_S = 30.0
# Of such a trial: an interval of four streams takes the engine 2.5 ms to write and us 3.5 ms to
# read, judge and record, 0.3 % of two CPUs if there is one every second.
_PAGED_INTERVAL_S = 2.0
_TESTER = "tester"


@dataclass(frozen=True)
class SharedCpus:
    """The `polled` CPUs, and by pid the names of our processes that may run on them.

    `main_thread` says whether the engine's own may, `crowded` that no other CPU is left.
    """

    polled: frozenset[int] = frozenset()
    processes: Mapping[int, str] = field(default_factory=dict)
    main_thread: bool = False
    crowded: bool = False

    @classmethod
    def of(cls, polled: tuple[int, ...], avoided: Collection[int], ledger: Ledger) -> SharedCpus:
        """As things stand while this process keeps off the `avoided` CPUs, all polled ones."""
        return cls(
            polled=frozenset(polled),
            processes=own_processes_on(polled, ledger) if polled else {},
            main_thread=not housekeeping_cpus(avoided).isdisjoint(polled),
            crowded=bool(polled) and leaves_no_cpu(avoided),
        )

    def without_wakeups(
        self, plan: TrialPlan, loss_limits: tuple[LossLimit, ...], *, live: bool = False
    ) -> TrialPlan:
        """The plan such that no process wakes while frames are sent, where no CPU is left for it.

        The generator itself ends a short trial by `loss_limits`; a long one is ended by its
        listener, when its next page comes. A `live` trial is not quieted, only measured.
        """
        measured = replace(plan, cpu_time_of=tuple(self.processes))
        if live or not self.crowded:
            return measured
        whole_s = plan.duration_s + plan.drain_s
        if whole_s <= _SILENT_S:
            # A second more, so that the end of the trial hands them over and not the clock.
            return replace(measured, hold_s=whole_s + 1.0, loss_limits=loss_limits)
        interval_s = max(plan.interval_s, _PAGED_INTERVAL_S)
        return replace(measured, interval_s=interval_s, hold_s=_PAGE_S)

    def own_time(self, report: TrialReport) -> SelfOverhead | None:
        """What our processes took of the polled CPUs in a trial; None where nothing is polled."""
        if not self.polled or report.cpu_time is None:
            return None
        return SelfOverhead.of(
            report.cpu_time,
            self.processes,
            main_thread=self.main_thread,
            polled_cpus=len(self.polled),
            sending_s=report.sending_s,
        )


# Of a test bed that polls no CPU of this machine.
NONE_SHARED = SharedCpus()


# The polling loops of a test bed: the tester's, and the DUT's here and on other hosts.
def loops_of_tester(program: str | None, pid: int | None) -> Iterator[PollingLoop]:
    """The loops of the tester's process; nothing where it has none."""
    if pid is not None:
        for thread, cpu in polling_threads(pid).items():
            yield PollingLoop("tester", program or _TESTER, cpu, thread)


def loops_of_dut(process: DutProcess) -> Iterator[PollingLoop]:
    """The loops of a process of the DUT, its main thread among them where that forwards."""
    for thread, cpu in polling_threads(process.pid).items():
        yield PollingLoop("dut", process.name, cpu, thread)
    if process.main_forwards and (main_cpu := pinned_to(process.pid)) is not None:
        yield PollingLoop("dut", process.name, main_cpu, process.pid, sleeps=True)


def loops_of_host(trace: RemoteTrace) -> Iterator[PollingLoop]:
    """Those of the DUT that poll on another host."""
    for each in trace.loops:
        yield PollingLoop(
            "dut", each.process, each.cpu, each.thread_id, sleeps=each.sleeps, host=trace.host
        )
