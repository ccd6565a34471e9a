"""The CPUs that a run would poll on this machine, and who else is on them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.whole_run.preflight import polled_cpus
from plimsoll.host.processes.cpu_load import BusyCpu, look_at_cpus
from plimsoll.record.results.check_result import PlannedCpu
from plimsoll.traffic.plan import StreamPlan


def planned_cpus(
    experiment: Experiment,
    streams: tuple[StreamPlan, ...],
    look: Callable[[Collection[int]], Sequence[BusyCpu]] = look_at_cpus,
) -> tuple[PlannedCpu, ...]:
    """The tester's CPUs, then the DUT's; none of a simulated lab. Looks at them for a moment."""
    generator = experiment.effective_generator
    polled = polled_cpus(experiment.lab, generator)
    if not polled:
        return ()
    busy = {each.cpu: each for each in look([cpu for _, cpu in polled])}
    work = {each.cpu: each for each in generator.cpu_work(streams, experiment.lab.port_count)}
    return tuple(
        PlannedCpu(
            cpu=cpu,
            role="tester" if (field, cpu) in generator.polled_cpus else "dut",
            field=field,
            sends=work[cpu].sends if cpu in work else (),
            receives_from=work[cpu].receives_from if cpu in work else (),
            busy_share=busy[cpu].share if cpu in busy else 0.0,
            busy_with=_named(busy.get(cpu)),
        )
        for field, cpu in polled
    )


def _named(busy: BusyCpu | None) -> tuple[str, ...]:
    return () if busy is None else tuple(f"{comm} ({pid})" for comm, pid, _ in busy.processes)
