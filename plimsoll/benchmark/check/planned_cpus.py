"""The CPUs that a run would poll on this machine, and who else is on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.whole_run.preflight import polled_cpus
from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.settings import WorkerLayout
from plimsoll.host.processes.cpu_load import BusyCpu, look_at_cpus
from plimsoll.record.results.check_result import PlannedCpu
from plimsoll.traffic.plan import StreamPlan


def planned_cpus(
    experiment: Experiment,
    streams: Sequence[StreamPlan],
    look: Callable[[Collection[int]], Sequence[BusyCpu]] = look_at_cpus,
) -> tuple[PlannedCpu, ...]:
    """The tester's CPUs, then the DUT's; none of a simulated lab. Looks at them for a moment."""
    if experiment.lab.simulated:
        return ()
    polled = polled_cpus(experiment.lab, experiment.generator)
    busy = {each.cpu: each for each in look([cpu for _, cpu in polled])}
    workers = {each.cpu: each for each in experiment.generator.layout(experiment.lab.port_count)}
    sends = dict(_sends(workers.values(), streams))
    return tuple(
        PlannedCpu(
            cpu=cpu,
            role="tester" if cpu in workers else "dut",
            field=field,
            sends=sends.get(cpu, ()),
            receives_from=_received(workers.get(cpu)),
            busy_share=busy[cpu].share if cpu in busy else 0.0,
            busy_with=_named(busy.get(cpu)),
        )
        for field, cpu in polled
    )


def _sends(
    workers: Collection[WorkerLayout], streams: Sequence[StreamPlan]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """By CPU the names of the streams, each of which may be spread over several queues."""
    queues = Counter(port for worker in workers for port, _ in worker.tx)
    ports = range(max(queues, default=-1) + 1)
    parts = QueueParts.of(streams, [queues[port] for port in ports]).streams
    for worker in workers:
        names = [part.name for part in parts if (part.tx_port, part.tx_queue) in worker.tx]
        yield worker.cpu, tuple(names)


def _received(worker: WorkerLayout | None) -> tuple[int, ...]:
    return () if worker is None else tuple(sorted({port for port, _ in worker.rx}))


def _named(busy: BusyCpu | None) -> tuple[str, ...]:
    return () if busy is None else tuple(f"{comm} ({pid})" for comm, pid, _ in busy.processes)
