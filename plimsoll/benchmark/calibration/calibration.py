"""The tester's own floor, measured before each run on a loopback without a DUT."""

from __future__ import annotations

from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.testbed.testbed import BedPlan, testbed
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.record.calibrations.calibration import CalibrationPoint, TesterCalibration
from plimsoll.text.units import format_pps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile

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
    plan = BedPlan.of(session.experiment).on_rings(port_count)
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
