"""An experiment's streams as live traffic: by name, and by a load that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import load_within_line
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts
from plimsoll.benchmark.live_traffic.live_traffic import LiveTraffic
from plimsoll.benchmark.live_traffic.live_trial import LiveSettings
from plimsoll.benchmark.testbed.bed_ledger import bed_ledger
from plimsoll.benchmark.testbed.testbed import TestbedConfig, testbed
from plimsoll.errors import InputError
from plimsoll.host.processes.affinity import SHARING, raise_priority
from plimsoll.observe.agent.settings import UNOBSERVED
from plimsoll.text.mistakes import did_you_mean
from plimsoll.text.units import Rate
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile

_BY_DEFAULT = LiveSettings()


@contextmanager
def live_traffic(
    plan: TestbedConfig,
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
                raise_priority(pid, SHARING)
        folder = None if ledger is None else ledger.directory.absolute() / "captured"
        traffic = LiveTraffic(bed, plan, settings, folder)
        try:
            yield traffic
        finally:
            traffic.close()


# What streams are made with before there is a load: more than probes may take of it.
_NO_LOAD_PPS = 1e8


class ExperimentTraffic:
    """The streams of the experiment's profile on its test bed; `live` is what sends them.

    A stream has a name for each direction, such as "load/0-1"; "load" names both.
    """

    def __init__(self, live: LiveTraffic, experiment: Experiment) -> None:
        """On live traffic that knows no streams yet."""
        self.live = live
        self._experiment = experiment
        self._load_pps = experiment.profile.rate_pps
        plans = self._first_plans()
        self._numbers = {plan.name: plan.stream for plan in plans}
        live.add(plans)

    @property
    def load_pps(self) -> float | None:
        """Per direction; None before one was given, where the profile states none."""
        return self._load_pps

    @property
    def names(self) -> tuple[str, ...]:
        """The streams' names, by direction."""
        return tuple(self._numbers)

    def start(
        self,
        streams: Iterable[str] = (),
        *,
        load: Rate | None = None,
        duration_s: float | None = None,
    ) -> None:
        """Start streams, by default all, at `load`, or at the load that they had.

        The generator ends each `duration_s` after its first frame. Raises InputError where there
        is no load yet, for unknown streams and impossible loads, and what LiveTraffic.start
        raises.
        """
        numbers = self._chosen(streams)
        if load is not None:
            self.set_load(load)
        if self._load_pps is None and self._experiment.profile.load_streams:
            raise InputError(
                "no load was given yet, and the profile states none",
                where="load",
                remedy="give one, such as 500kpps or 10%",
            )
        timed = {} if duration_s is None else dict.fromkeys(numbers, duration_s)
        self.live.start(numbers, timed)

    def stop(self, streams: Iterable[str] = ()) -> None:
        """Stop streams, by default all; returns after the drain where none is left."""
        chosen = tuple(streams)
        self.live.stop(self._chosen(chosen) if chosen else None)

    def set_load(self, load: Rate) -> None:
        """Give the load streams, whether they are sent or not, their shares of another load.

        Per direction, as in `plimsoll trial`; probes keep their rates. Raises InputError for a
        load that the line does not carry, or that is a share of something unknown.
        """
        load_pps = load_within_line(load, self._experiment, self.live.line_rate_bps, "load")
        plans = self._compiled(load_pps)
        rates = {
            plan.stream: plan.rate_pps
            for plan in plans
            if plan.role == "load" and plan.rate_pps is not None
        }
        self.live.set_rates(rates)
        self._load_pps = load_pps

    def set_rate(self, stream: str, rate_pps: float) -> None:
        """Give a stream, of both directions where it has two, a rate of its own; 0 pauses it."""
        self.live.set_rates(dict.fromkeys(self._chosen((stream,)), rate_pps))

    def counts(self, *, fresh: bool = False) -> LiveCounts:
        """All counters, as LiveTraffic has them."""
        return self.live.counts(fresh=fresh)

    def clear(self) -> None:
        """Begin all counters anew."""
        self.live.clear()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until nothing is sent any more; whether that is so. Raises what it failed by."""
        return self.live.wait(timeout_s)

    def close(self) -> None:
        """Stop everything."""
        self.live.close()

    def _first_plans(self) -> tuple[StreamPlan, ...]:
        """Of no rate as long as there is no load to share."""
        if self._load_pps is not None:
            return self._compiled(self._load_pps)
        return tuple(
            replace(plan, rate_pps=0.0) if plan.role == "load" and plan.rate_pps else plan
            for plan in self._compiled(_NO_LOAD_PPS)
        )

    def _compiled(self, load_pps: float) -> tuple[StreamPlan, ...]:
        return compile_profile(self._experiment.profile, load_pps, self.live.paths)

    def _chosen(self, names: Iterable[str]) -> tuple[int, ...]:
        chosen = [number for name in names for number in self._named(name)]
        return tuple(dict.fromkeys(chosen)) or tuple(self._numbers.values())

    def _named(self, name: str) -> list[int]:
        found = [
            number for each, number in self._numbers.items() if name in (each, _undirected(each))
        ]
        if not found:
            known = [*dict.fromkeys(map(_undirected, self._numbers)), *self._numbers]
            raise InputError(
                f"there is no stream {name!r}",
                where="streams",
                remedy=did_you_mean(name, known, f"name one of {', '.join(known)}"),
            )
        return found


def _undirected(name: str) -> str:
    return name.rsplit("/", 1)[0]


@contextmanager
def experiment_traffic(
    experiment: Experiment,
    *,
    settings: LiveSettings | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[ExperimentTraffic]:
    """Bring the experiment's lab and generator up for its streams, and take all down at the end.

    Raises as `live_traffic` does.
    """
    chosen = settings or LiveSettings(
        drain_s=min(experiment.trial.drain, LiveSettings.drain_s),
        stall_us=experiment.trial.stall * 1e6,
        check=experiment.trial.frame_check,
    )
    plan = TestbedConfig.of(experiment)
    with experiment.with_source_locations(), live_traffic(plan, settings=chosen, tell=tell) as live:
        for note in experiment.profile.notes():
            tell(note)
        traffic = ExperimentTraffic(live, experiment)
        try:
            yield traffic
        finally:
            traffic.close()
