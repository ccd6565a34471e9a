"""Calibrations that the runs of a matrix share where their testers are alike."""

from __future__ import annotations

from dataclasses import dataclass, field

from plimsoll.benchmark.calibration.calibration import calibrate
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.testbed.testbed import BedPlan
from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.traffic.streams.profile import Profile
from plimsoll.trial.judging.tester import TesterLimits


@dataclass(frozen=True)
class CalibratedTester:
    """All that a calibration depends on: neither the DUT nor its noise is part of its bed."""

    bed: BedPlan
    profile: Profile
    tester: TesterLimits
    maximum_pps: float

    @classmethod
    def of(cls, experiment: Experiment, port_count: int, maximum_pps: float) -> CalibratedTester:
        """Of an experiment whose search has this maximum, in pps per direction."""
        bed = BedPlan.of(experiment).on_rings(port_count)
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
