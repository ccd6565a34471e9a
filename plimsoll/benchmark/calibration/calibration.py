"""The tester's own floor, measured before each run on a loopback without a DUT."""

from __future__ import annotations

from dataclasses import dataclass, field

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.testbed.testbed import TestbedConfig, testbed
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.record.calibrations.calibration import CalibrationPoint, TesterCalibration
from plimsoll.text.units import format_pps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.trial.judging.tester import TesterLimits

CALIBRATION_TRIAL_S = 1.0
_HOW = (
    "The same streams on the same CPUs over net_ring ports that return every frame, without a "
    "DUT, for 1 s each: the latency is the probe's own path through the tester"
)


def calibrate(session: Session, port_count: int, maximum_pps: float) -> TesterCalibration:
    """Measure the tester idle (probes only) and at the search's highest load per direction.

    Its generator must be one that runs on ring ports. Warns through the listener when the
    tester cannot offer that load.
    """
    points: list[CalibrationPoint] = []
    plan = TestbedConfig.of(session.experiment).on_rings(port_count)
    with testbed(plan, session.ledger, session.listener.note) as bed:
        runner = TrialRunner(session, bed)
        streams = compile_profile(session.experiment.profile, maximum_pps, bed.ports.paths)
        probes = tuple(stream for stream in streams if stream.role == "latency")
        if probes:
            points.append(_point(runner, "idle", 0.0, probes))
        points.append(_point(runner, "at the search's maximum", maximum_pps, streams))
    reached = points[-1].reached
    if reached < 1 - session.experiment.tester.offered_tolerance:
        session.listener.note(
            f"for a second the tester alone reached {format_pps(maximum_pps * reached)} per "
            f"direction of the search's maximum of {format_pps(maximum_pps)}: trials above that "
            "may be invalid"
        )
    return TesterCalibration(how=_HOW, points=tuple(points))


def _point(
    runner: TrialRunner, name: str, load_pps: float, streams: tuple[StreamPlan, ...]
) -> CalibrationPoint:
    request = TrialRequest("calibration", load_pps, CALIBRATION_TRIAL_S, streams, judged=False)
    return CalibrationPoint.from_trial(name, runner.run(request))


@dataclass(frozen=True)
class CalibratedTester:
    """All that a calibration depends on: neither the DUT nor its noise is part of its bed."""

    bed: TestbedConfig
    profile: Profile
    tester: TesterLimits
    maximum_pps: float

    @classmethod
    def of(cls, experiment: Experiment, port_count: int, maximum_pps: float) -> CalibratedTester:
        """Of an experiment whose search has this maximum, in pps per direction."""
        bed = TestbedConfig.of(experiment).on_rings(port_count)
        return cls(bed, experiment.profile, experiment.tester, maximum_pps)


@dataclass
class SharedCalibrations:
    """Those taken so far. Each is taken by the first run that needs it, and names that run."""

    _taken: list[tuple[CalibratedTester, TesterCalibration]] = field(default_factory=list)

    def calibrate(
        self, session: Session, port_count: int, maximum_pps: float
    ) -> TesterCalibration | None:
        """As `calibration.calibrate` measures it, or as an earlier run did of the same tester.

        Either is journalled. None for a generator that cannot be measured alone, such as a
        simulated one.
        """
        if not session.experiment.effective_generator.capabilities.rings:
            return None
        tester = CalibratedTester.of(session.experiment, port_count, maximum_pps)
        calibration = next((taken for known, taken in self._taken if known == tester), None)
        if calibration is None:
            calibration = calibrate(session, port_count, maximum_pps)
            taken = calibration.model_copy(update={"taken_in": _name(session)})
            self._taken.append((tester, taken))
        session.recorder.event("calibration", calibration=calibration.model_dump(mode="json"))
        return calibration


def _name(session: Session) -> str:
    """Of a matrix's sample, with the folder of its iteration."""
    path = session.recorder.run.path
    return f"{path.parent.name}/{path.name}"
