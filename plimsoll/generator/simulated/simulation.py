"""The simulation as a generator that is planned: what it can do, and the DUT that it computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

from plimsoll.generator.generator_plan import Capabilities, GeneratorPlan, Launch
from plimsoll.generator.interface import FrameFault
from plimsoll.generator.simulated.generator import SimulatedGenerator
from plimsoll.search.simulated.models.dut_model import DutModel
from plimsoll.traffic.plan import PacingKind


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
