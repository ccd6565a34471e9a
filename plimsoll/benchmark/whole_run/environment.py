"""What a run's numbers were measured with, recorded once the test bed is up."""

from __future__ import annotations

from dataclasses import asdict

from plimsoll.benchmark.experiment.versions import versions
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.testbed.tester_identity import known_calibrations
from plimsoll.benchmark.whole_run.run_audits import record_audits
from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.calibrations.stored_calibration import StoredCalibration
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.environment import read_environment
from plimsoll.record.run.journal import LAB_UP


def record_environment(
    session: Session, bed: Testbed, calibration: TesterCalibration | None
) -> None:
    """Write environment.json, with this run's calibration and earlier ones, and the audits.

    The lab is journalled.
    """
    read_environment(
        versions(bed.generator.facts),
        calibration,
        _earlier_calibrations(session, bed),
        bed.observers.records,
    ).write(session.recorder.run.environment)
    if not bed.generator.facts.simulated:
        record_audits(session, bed)
    session.recorder.event(
        LAB_UP,
        kind_of_lab=bed.lab.kind,
        lab=bed.lab.facts(),
        ports=[asdict(port) for port in bed.generator.ports],
        notes=bed.notes,
        resctrl=bed.resctrl.facts,
        engine_pid=bed.generator.facts.pid,
    )


def _earlier_calibrations(session: Session, bed: Testbed) -> tuple[StoredCalibration, ...]:
    """Of this very tester; a damaged one is reported and left out: it spoils no run."""
    if bed.generator.facts.simulated:
        return ()
    try:
        return known_calibrations(
            read_environment({}),
            session.experiment.effective_generator,
            bed.generator.facts,
            bed.generator.ports,
        )
    except RecordError as error:
        session.listener.note(str(error))
        return ()


# What carries the frames, as reports of standard tests tell it.
def media_of(bed: Testbed) -> str:
    """The tester's ports and their line rate."""
    drivers = ", ".join(dict.fromkeys(port.driver for port in bed.generator.ports))
    if bed.line_rate_bps is None:
        return f"{drivers}, without a line rate"
    return f"{drivers} at {bed.line_rate_bps / 1e9:g} Gbps"
