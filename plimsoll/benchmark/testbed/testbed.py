"""The test bed: lab and generator, up together, and trials on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.trial_settings import TrialSettings
from plimsoll.benchmark.testbed.disturbances import NO_DISTURBANCES, Disturbances
from plimsoll.benchmark.testbed.host_captures import (
    HostCaptures,
    start_captures,
    with_later_counters,
)
from plimsoll.benchmark.testbed.shared_cpus import (
    NONE_SHARED,
    SharedCpus,
    loops_of_dut,
    loops_of_tester,
)
from plimsoll.benchmark.testbed.trial_marks import TrialMarks
from plimsoll.dut.lab import Lab, LabModel, LabPorts, coming_up
from plimsoll.dut.labs.loopback import LoopbackSettings
from plimsoll.dut.registry.labs import make_lab
from plimsoll.generator.generator_plan import GeneratorPlan, Launch
from plimsoll.generator.interface import Generator, GeneratorFacts, Interval, TrialPlan
from plimsoll.host.cpus import format_cpu_list
from plimsoll.host.ledger.cpu_claims import CpuClaim, claim_cpus, cpus_polled_by_others
from plimsoll.host.ledger.hugepages import hugepages_explained, plan_memory
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.affinity import housekeeping_cpus, leaves_no_cpu, pinned_to
from plimsoll.host.processes.garbage_collection import gc_frozen
from plimsoll.host.processes.schedule_stats import look_at_cpus
from plimsoll.host.resctrl.groups import NO_GROUPS, ResctrlGroups, resctrl_groups
from plimsoll.host.resctrl.settings import ResctrlSettings
from plimsoll.neighbours.neighbour import NeighbourModel
from plimsoll.neighbours.noise import NO_NOISE, Noise
from plimsoll.observe.agent.observers import LocalHost, Observers, StartingAgents, open_observers
from plimsoll.observe.agent.settings import UNOBSERVED, ObserveSettings
from plimsoll.record.metrics.interval_samples import TesterCapacity
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.outcome.background_streams import BackgroundStreams
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.running.trial import run_trial

_LINK_WAIT_S = 15.0


@dataclass(frozen=True)
class TestbedConfig:
    """What to bring up. `largest_frame_size` of any trial to come is in bytes with FCS."""

    lab: LabModel
    generator: GeneratorPlan
    largest_frame_size: int
    require_hugepages: bool = False
    observe: ObserveSettings = UNOBSERVED
    # Whether criteria judge what observers read, which then needs short intervals.
    judges_hosts: bool = False
    noise: tuple[NeighbourModel, ...] = ()
    resctrl: ResctrlSettings | None = None
    # Polled by other runs and by labs that stand: what runs there waits, the longer a DUT there.
    cpus_of_others: frozenset[int] = frozenset()

    @classmethod
    def of(cls, experiment: Experiment) -> TestbedConfig:
        """What the experiment asks for."""
        return cls(
            lab=experiment.lab,
            generator=experiment.effective_generator,
            largest_frame_size=experiment.largest_frame_size,
            require_hugepages=experiment.require_hugepages,
            observe=experiment.observe,
            judges_hosts=any(
                isinstance(each, HostCriterion)
                for criteria in experiment.goals.values()
                for each in criteria
            ),
            noise=experiment.noise,
            resctrl=experiment.resctrl,
        )

    def on_rings(self, port_count: int) -> TestbedConfig:
        """The same tester without DUT and noise, for a generator that runs on ring ports."""
        return replace(
            self,
            lab=LoopbackSettings(ports=port_count),
            generator=self.generator.on_rings(),
            observe=UNOBSERVED,
            noise=(),
            resctrl=None,
        )

    @property
    def polled_cpus(self) -> dict[str, tuple[int, ...]]:
        """The CPUs that polling loops keep busy, by whose they are."""
        return {
            "tester": tuple(cpu for _, cpu in self.generator.polled_cpus),
            "dut": tuple(cpu for _, cpu in self.lab.polled_cpus),
        }

    @property
    def busy_cpus(self) -> tuple[int, ...]:
        """Those that must not be disturbed."""
        return tuple(cpu for cpus in self.polled_cpus.values() for cpu in cpus)

    @property
    def avoided_cpus(self) -> frozenset[int]:
        """All that are polled, by us or by others."""
        return self.cpus_of_others.union(self.busy_cpus)

    @property
    def housekeeping_cpus(self) -> frozenset[int]:
        """Where those threads of Plimsoll run that do not poll.

        Where every CPU is polled it is on the tester's, never on the DUT's: the tester's loop
        counts the time for which it is away, and the DUT keeps its own. Where the kernel forwards,
        moreover, its soft interrupts count as the time of the thread that they interrupt.
        """
        return housekeeping_cpus(self.avoided_cpus, self.polled_cpus["tester"])


@dataclass(frozen=True)
class Testbed:
    """Everything needed to run trials, for as long as `testbed` holds it."""

    lab: Lab
    ports: LabPorts
    generator: Generator
    notes: tuple[str, ...]
    busy_cpus: tuple[int, ...]
    marks: TrialMarks
    observers: Observers
    captures: HostCaptures
    shared_cpus: SharedCpus = NONE_SHARED
    # By name, the processes whose loops poll: the tester's, and the DUT's on this host.
    polling_pids: Mapping[str, int] = field(default_factory=dict)
    disturbances: Disturbances = NO_DISTURBANCES
    noise: Noise = NO_NOISE
    resctrl: ResctrlGroups = NO_GROUPS
    housekeeping_cpus: frozenset[int] = frozenset()

    @property
    def line_rate_bps(self) -> float | None:
        """L1, of the slowest port: as the lab states it, or as the links of real wires do."""
        if self.ports.line_rate_bps is not None or self.ports.drained_by != "wire":
            return self.ports.line_rate_bps
        speeds = [port.link_mbps for port in self.generator.ports]
        known = [mbps for mbps in speeds if mbps is not None]
        return min(known) * 1e6 if len(known) == len(speeds) else None

    @property
    def capacity(self) -> TesterCapacity:
        """What the tester's utilisation is a share of."""
        return TesterCapacity.of(
            self.generator.facts, self.generator.ports, self.ports.line_rate_bps
        )

    def plan(
        self,
        settings: TrialSettings,
        streams: tuple[StreamPlan, ...],
        duration_s: float,
        load_pps: float,
    ) -> TrialPlan:
        """A trial of `streams`, which are made of this load, under a mark of its own."""
        return settings.plan(
            streams,
            duration_s,
            load_pps=load_pps,
            mark=self.marks.take(),
            queue_frames=self.ports.queue_frames,
        )

    def trial(
        self,
        plan: TrialPlan,
        watch: Callable[[Interval], bool],
        background: tuple[StreamPlan, ...] = (),
    ) -> Outcome:
        """Run one trial; `watch` sees each interval and stops the trial with True.

        The streams of the `background` are sent, too, and not judged.
        """
        with gc_frozen(), self.undisturbed(), self.disturbances.recorded():
            outcome = run_trial(
                self.generator,
                self.lab,
                self.ports,
                plan,
                watch=watch,
                background=BackgroundStreams(background),
            )
        self.resctrl.check()
        outcome = with_later_counters(outcome, self.lab)
        return replace(outcome, own=self.shared_cpus.own_time(outcome.report))

    def undisturbed(self) -> AbstractContextManager[None]:
        """Keep this process on the housekeeping CPUs for the length of a `with`."""
        return pinned_to(self.housekeeping_cpus) if self.busy_cpus else nullcontext()


@contextmanager
def testbed(
    plan: TestbedConfig, ledger: Ledger | None, tell: Callable[[str], None]
) -> Iterator[Testbed]:
    """Bring the lab, the generator and the observers up, and all down at the end.

    Only a simulated lab needs no ledger. A failure that is not a reason to stop, such as an
    observer's, is reported. Raises InputError and MachineError for what the user can fix,
    LabDied and GeneratorDied.
    """
    if ledger is None or plan.lab.simulated:
        yield _simulated(plan)
        return
    settings = plan.lab.for_frames(plan.largest_frame_size)
    claim_cpus(ledger, _cpu_claims(plan))
    plan = replace(plan, cpus_of_others=cpus_polled_by_others(ledger))
    busy = _busy_notes(plan, ledger)
    lab_memory = plan_memory(settings.megabytes, ledger, require_huge=plan.require_hugepages)
    lab = make_lab(settings, ledger, lab_memory)
    with ExitStack() as stack:
        groups = stack.enter_context(resctrl_groups(plan.resctrl, plan.polled_cpus, ledger))
        captures = start_captures(plan.observe, plan.avoided_cpus, ledger)
        stack.callback(captures.close)
        agents = stack.enter_context(closing(StartingAgents(plan.observe, ledger)))
        stack.callback(lab.down)
        with hugepages_explained(lab_memory, ledger), coming_up():
            ports = lab.up()
        generator = stack.enter_context(closing(plan.generator.start(_launch(plan, ports, ledger))))
        facts = generator.facts
        lab.wait_links(_LINK_WAIT_S)
        observers = open_observers(
            plan.observe, _local_host(plan, lab, facts, ledger, groups), agents, tell
        )
        stack.callback(observers.close)
        lab_notes = (lab_memory.note,) if lab_memory.note else ()
        with pinned_to(plan.housekeeping_cpus):
            shared = SharedCpus.of(plan.busy_cpus, plan.avoided_cpus, ledger)
        polling_pids = _polling_pids(lab, facts)
        disturbances = Disturbances()
        if plan.observe.enabled and plan.observe.kernel_events:
            disturbances = Disturbances.open(
                _loops(lab, plan.generator.capabilities.program, facts),
                facts.pid,
                facts.tsc_hz,
                ledger,
            )
            stack.callback(disturbances.close)
            disturbances = disturbances.with_hosts(
                observers.traces(), elsewhere=plan.lab.runs_elsewhere
            )
            for note in disturbances.notes:
                tell(note)
        yield Testbed(
            lab,
            ports,
            generator,
            (*lab_notes, *facts.notes, *ports.notes, *busy, *_noise_notes(plan), *groups.notes),
            plan.busy_cpus,
            TrialMarks(),
            observers,
            captures,
            shared,
            polling_pids,
            disturbances,
            Noise(plan.noise, ledger, groups.noise_tasks),
            groups,
            plan.housekeeping_cpus,
        )


def _launch(plan: TestbedConfig, ports: LabPorts, ledger: Ledger | None) -> Launch:
    return Launch(
        devargs=ports.devargs,
        descriptors=ports.descriptors,
        max_frame_bytes=plan.largest_frame_size - FCS_BYTES,
        link_wait_s=_LINK_WAIT_S,
        ledger=ledger,
        main_cpus=plan.housekeeping_cpus,
        require_hugepages=plan.require_hugepages,
    )


def _cpu_claims(plan: TestbedConfig) -> tuple[CpuClaim, ...]:
    """Each CPU with its place in the experiment and the process that will poll it."""
    generator, lab = plan.generator, plan.lab
    sender = generator.capabilities.program or ""
    return (
        *(CpuClaim(place, cpu, sender) for place, cpu in generator.polled_cpus),
        *(CpuClaim(place, cpu, lab.polling_program) for place, cpu in lab.polled_cpus),
    )


def _busy_notes(plan: TestbedConfig, ledger: Ledger) -> tuple[str, ...]:
    """What others run on the CPUs that will be polled."""
    ours = (noted.identity.pid for noted in ledger.record.processes)
    busy = look_at_cpus(plan.busy_cpus, tuple(ours))
    return tuple(f"{each}: the loop that polls it will lose that time" for each in busy)


def _noise_notes(plan: TestbedConfig) -> Iterator[str]:
    """Which neighbours are on the tester's own CPUs."""
    tester = frozenset(plan.polled_cpus["tester"])
    for index, neighbour in enumerate(plan.noise):
        if shared := tester.intersection(neighbour.cpus):
            yield (
                f"noise[{index}] ({neighbour.name}) is on CPU {format_cpu_list(shared)}, which the "
                "tester polls: what it takes there the tester misses, and trials may be invalid"
            )


def _polling_pids(lab: Lab, generator: GeneratorFacts) -> dict[str, int]:
    tester = {} if generator.pid is None else {"tester": generator.pid}
    return {**tester, **{each.name: each.pid for each in lab.processes()}}


def _loops(lab: Lab, program: str | None, generator: GeneratorFacts) -> tuple[PollingLoop, ...]:
    of_dut = (loop for each in lab.processes() for loop in loops_of_dut(each))
    return (*loops_of_tester(program, generator.pid), *of_dut)


def _local_host(
    plan: TestbedConfig, lab: Lab, generator: GeneratorFacts, ledger: Ledger, groups: ResctrlGroups
) -> LocalHost:
    """What the observers of this host are to look at."""
    processes = lab.processes()
    namespace = ledger.namespace
    program, pid = plan.generator.capabilities.program, generator.pid
    tester = {} if program is None or pid is None else {program: pid}
    return LocalHost(
        polled=plan.polled_cpus,
        run_on=tuple(sorted(plan.housekeeping_cpus)),
        pids={**tester, **{each.name: each.pid for each in processes}},
        telemetry={each.name: str(each.telemetry) for each in processes if each.telemetry},
        openvswitch={each.name: str(each.unixctl) for each in processes if each.unixctl},
        namespaces={namespace.name: str(namespace.path)} if namespace.path.exists() else {},
        resctrl={name: str(folder) for name, folder in groups.folders.items()},
        crowded=_reads_seldom(plan),
    )


def _reads_seldom(plan: TestbedConfig) -> bool:
    return leaves_no_cpu(plan.avoided_cpus) and not plan.judges_hosts


def _simulated(plan: TestbedConfig) -> Testbed:
    """A test bed of which nothing is on this machine."""
    lab = plan.lab.make_without_ledger()
    ports = lab.up()
    generator = plan.generator.start(_launch(plan, ports, None))
    no_observers = Observers(lambda _: None)
    return Testbed(
        lab, ports, generator, ports.notes, (), TrialMarks(), no_observers, HostCaptures()
    )
