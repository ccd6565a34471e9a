"""The simulated generator: trials in simulated time, through a simulated DUT.

It stands where the engine stands and sends nothing. Hours pass in the time that it takes
to count them; two generators with the same seed do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, NamedTuple, get_args

from plimsoll.generator.generator_plan import Capabilities, GeneratorPlan, Launch
from plimsoll.generator.interface import (
    FrameFault,
    GeneratorFacts,
    Interval,
    PortInfo,
    TrialPlan,
    TrialReport,
)
from plimsoll.generator.simulated.latency_pools import LatencyPools
from plimsoll.generator.simulated.path_run import PathRun
from plimsoll.generator.simulated.stream_run import StreamRun
from plimsoll.generator.simulated.trial_run import LoopRun, SimulatedLoop, TrialRun
from plimsoll.search.simulated.direction import Passage, SimulatedDirection
from plimsoll.search.simulated.models.dut_model import DutModel
from plimsoll.search.text.wire import l1_bits, max_pps
from plimsoll.traffic.plan import PacingKind, StreamPlan
from plimsoll.version import VERSION


class PortRate(NamedTuple):
    """A stream's own rate, and the share of it that the line takes."""

    rate_pps: float
    taken: float


def port_schedule(
    streams: Sequence[StreamPlan], line_rate_bps: float, round_trip_s: float
) -> dict[int, PortRate]:
    """The rate of each of a port's streams, by its number.

    A stream of which one frame is in flight sends one each `round_trip_s`, no faster than
    its rate. Streams that go back to back share what the others leave of the line.
    """
    rates = {
        each.stream: _own_rate_pps(each, round_trip_s)
        for each in streams
        if each.pacing.kind != "back-to-back"
    }
    bits = {each.stream: l1_bits(each.mean_frame_size) for each in streams}
    offered_bps = sum(rate * bits[number] for number, rate in rates.items())
    taken = min(1.0, line_rate_bps / offered_bps) if offered_bps else 1.0
    schedule = {number: PortRate(rate, taken) for number, rate in rates.items()}
    greedy = [each.stream for each in streams if each.stream not in rates]
    for number in greedy:
        left_bps = max(0.0, line_rate_bps - offered_bps) / len(greedy)
        schedule[number] = PortRate(left_bps / bits[number], 1.0)
    return schedule


def _own_rate_pps(stream: StreamPlan, round_trip_s: float) -> float:
    if stream.pacing.kind == "one-in-flight":
        in_turn_pps = 1.0 / round_trip_s
        return in_turn_pps if stream.rate_pps is None else min(stream.rate_pps, in_turn_pps)
    return stream.rate_pps or 0.0


# Every simulation begins at the start of 2026, UTC.
_BEGIN_UNIX_NS = 1_767_225_600 * 10**9
# From the end of one trial's drain to the next one's first frame.
_BETWEEN_TRIALS_S = 0.1
# Of a sending loop, to see a frame come back and send the next.
_TURN_S = 1e-6


class SimulatedGenerator:
    """A tester whose port N is polled by a loop of its own, and a DUT between the ports.

    Direction n of the DUT is the n-th of `paths`. Its state goes on from trial to trial.
    """

    def __init__(
        self,
        model: DutModel,
        paths: Sequence[tuple[int, int]],
        *,
        seed: int = 0,
        line_rate_bps: float = 10e9,
        queue_frames: int = 4096,
    ) -> None:
        self._model = model
        self._line_rate_bps = line_rate_bps
        self._queue_frames = queue_frames
        self._port_count = 1 + max(port for path in paths for port in path)
        self._chance = _chance(seed, "trials")
        self._pools = LatencyPools(_chance(seed, "latencies"))
        self._directions = {
            path: SimulatedDirection(model.behaviour(number, _chance(seed, f"direction {number}")))
            for number, path in enumerate(paths)
        }
        self._loops = [
            SimulatedLoop(port, model.tester_away, _chance(seed, f"loop {port}"))
            for port in range(self._port_count)
        ]
        self._stale = [0] * self._port_count
        self.now_s = 0.0

    @property
    def facts(self) -> GeneratorFacts:
        """That it is a simulation; its version is Plimsoll's."""
        return GeneratorFacts("simulation", VERSION, simulated=True)

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """As many as the paths need, of the line rate."""
        return tuple(self._port(number) for number in range(self._port_count))

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Run one trial; `watch` sees each interval as it ends and stops the trial with True."""
        for direction in self._directions.values():
            direction.behaviour.begin_trial(self.now_s)
        paths = self._paths_of(plan)
        run = TrialRun(
            plan,
            paths,
            [LoopRun(loop, self._pools, plan.stall_us / 1e6, self.now_s) for loop in self._loops],
            self._stale,
            began_s=self.now_s,
            begin_unix_ns=_BEGIN_UNIX_NS + round(self.now_s * 1e9),
        )
        report = run.run(watch)
        self._stale = [0] * self._port_count
        for (_, rx_port), path in paths.items():
            self._stale[rx_port] += path.outstanding
        self._rest(self.now_s + run.ended_s)
        return report

    def close(self) -> None:
        """Nothing to end."""

    def _paths_of(self, plan: TrialPlan) -> dict[tuple[int, int], PathRun]:
        """The streams of the trial by direction; KeyError for one that the DUT has not."""
        rates = self._rates_of(plan)
        streams: dict[tuple[int, int], list[StreamRun]] = {path: [] for path in self._directions}
        for each in plan.streams:
            run = StreamRun(each, *rates[each.stream], self._pools, self._chance)
            streams[each.tx_port, each.rx_port].append(run)
        return {
            path: PathRun(
                direction,
                streams[path],
                self._chance,
                floor=self._model.floor,
                tester_queue_frames=self._queue_frames,
                line_pps=self._line_pps(streams[path]),
                catch_up_s=plan.catch_up_us / 1e6,
            )
            for path, direction in self._directions.items()
        }

    def _rates_of(self, plan: TrialPlan) -> dict[int, PortRate]:
        rates: dict[int, PortRate] = {}
        round_trip_s = self._model.latency / 1e9 + _TURN_S
        for port in range(self._port_count):
            streams = [each for each in plan.streams if each.tx_port == port]
            rates |= port_schedule(streams, self._line_rate_bps, round_trip_s)
        return rates

    def _line_pps(self, streams: Sequence[StreamRun]) -> float:
        smallest = min((each.plan.mean_frame_size for each in streams), default=64.0)
        return max_pps(smallest, self._line_rate_bps)

    def _rest(self, since_s: float) -> None:
        """Until the next trial nothing is sent; what is queued comes out."""
        self.now_s = since_s + _BETWEEN_TRIALS_S
        for direction in self._directions.values():
            direction.pass_on(since_s, self.now_s, 0.0, Passage())

    def _port(self, number: int) -> PortInfo:
        return PortInfo(
            port=number,
            devargs=f"simulated{number}",
            driver="simulated",
            mac=f"02:00:00:00:00:{number:02x}",
            link_up=True,
            link_mbps=round(self._line_rate_bps / 1e6),
        )


def _chance(seed: int, of_what: str) -> Random:
    return Random(f"{seed}/{of_what}")  # noqa: S311 - the draws of a simulation


@dataclass(frozen=True)
class Simulation(GeneratorPlan):
    """A simulated DUT between ports of `line_rate_bps`, and its tester, in simulated time.

    Direction n of the DUT is the n-th of `paths`; a port's queue holds `queue_frames`. The
    same `seed` gives the same trials.
    """

    # The engine's limits, so that what passes on a model can be sent.
    capabilities: ClassVar[Capabilities] = Capabilities(
        most_streams=64,
        least_pps=0.01,
        most_pps=1e9,
        # A model's queue fills evenly: it would know nothing of a capture's gaps.
        pacings=frozenset(get_args(PacingKind)) - {"captured"},
        latency=True,
        load_latency=True,
        faults=frozenset(get_args(FrameFault)),
        simulated=True,
        churn=True,
    )

    model: DutModel
    paths: tuple[tuple[int, int], ...]
    seed: int
    line_rate_bps: float
    queue_frames: int

    def start(self, launch: Launch) -> SimulatedGenerator:
        """The generator; it opens no ports and needs nothing."""
        return self.generator()

    def generator(self) -> SimulatedGenerator:
        """The same, which has a clock of its own."""
        return SimulatedGenerator(
            self.model,
            self.paths,
            seed=self.seed,
            line_rate_bps=self.line_rate_bps,
            queue_frames=self.queue_frames,
        )
