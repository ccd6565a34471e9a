"""The lab `simulated`: a DUT that is a model, tested in simulated time."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from plimsoll.dut.lab import Lab, LabModel, LabPorts, LineRate
from plimsoll.dut.ports.tester_ports import LineRateField
from plimsoll.dut.wired import PassiveLab
from plimsoll.generator.simulated import Simulation
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime
from plimsoll.search.simulated.models.registry import ModelSettings
from plimsoll.text.units import Rate
from plimsoll.traffic.streams.compile import Paths

_QUEUE_FRAMES = 4096
_PATHS: Paths = ((0, 1), (1, 0))


class SimulatedSettings(LabModel):
    """A simulated DUT between two ports of `line_rate`; the same `seed` gives the same run.

    No frame is sent, and no time passes but that of the computation.
    """

    summary: ClassVar[str] = "a simulated DUT in simulated time: nothing is sent"
    cannot_reset: ClassVar[str | None] = "a simulated DUT has nothing to reset"
    settles: ClassVar[bool] = False

    kind: Literal["simulated"] = "simulated"
    model: ModelSettings
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    line_rate: LineRateField = Rate(10e9, "l1_bps")

    @property
    def port_count(self) -> int:
        """A port on either side."""
        return 2

    @property
    def directions(self) -> Paths:
        """Both, through the DUT."""
        return _PATHS

    def check_machine(self) -> LineRate:
        """Nothing is needed of the machine."""
        return LineRate(self.line_rate.value)

    @property
    def simulation(self) -> Simulation:
        """The generator that this lab is tested with, the DUT in it."""
        return Simulation(
            self.model,
            self.directions,
            seed=self.seed,
            line_rate_bps=self.line_rate.value,
            queue_frames=_QUEUE_FRAMES,
        )

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """A lab that needs neither ledger nor memory."""
        return self.make_without_ledger()

    def make_without_ledger(self) -> SimulatedLab:
        """Nothing that could be up or down."""
        return SimulatedLab(self)


class SimulatedLab(PassiveLab):
    """Ports that exist on paper; its facts say so."""

    def __init__(self, settings: SimulatedSettings) -> None:
        self._settings = settings
        super().__init__(
            settings.kind,
            LabPorts(
                devargs=tuple(f"simulated{port}" for port in range(settings.port_count)),
                descriptors=_QUEUE_FRAMES,
                queue_frames=_QUEUE_FRAMES,
                paths=settings.directions,
                drained_by="wire",
                line_rate_bps=settings.line_rate.value,
                notes=(
                    f"SIMULATED: the DUT is the model {settings.model.kind} "
                    f"(seed {settings.seed}); no frame was sent",
                ),
            ),
        )

    def facts(self) -> dict[str, object]:
        """That it is simulated, and by which model."""
        return {
            "simulated": True,
            "model": self._settings.model.model_dump(mode="json"),
            "seed": self._settings.seed,
        }


LAB = SimulatedSettings
