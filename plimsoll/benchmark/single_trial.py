"""One trial at one load, judged and recorded, without a search."""

from __future__ import annotations

from plimsoll.benchmark.bed_ledger import bed_ledger
from plimsoll.benchmark.beginning import begin
from plimsoll.benchmark.experiment import Experiment
from plimsoll.benchmark.preflight import check_trial
from plimsoll.benchmark.recorded_trial import TrialRequest, TrialRunner
from plimsoll.benchmark.session import Session
from plimsoll.benchmark.surroundings import record_surroundings
from plimsoll.benchmark.testbed import BedPlan, testbed
from plimsoll.benchmark.watcher import Watcher
from plimsoll.record.recorder import recording
from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.trial_record import TrialRecord
from plimsoll.traffic.compile import compile_profile
from plimsoll.traffic.units import Rate

METHOD = "trial"


def run_single_trial(
    experiment: Experiment, run: RunDirectory, load: Rate, duration_s: float, watcher: Watcher
) -> TrialRecord:
    """Run the experiment's profile at `load` for `duration_s` into `run`.

    Raises PlimsollError for what the user can mend.
    """
    check_trial(experiment, load, "load")
    profile = experiment.profile
    with recording(run) as recorder, bed_ledger("trial", experiment.lab) as ledger:
        session = Session(experiment, recorder, watcher, ledger)
        begin(recorder, METHOD, experiment)
        with testbed(BedPlan.of(experiment), ledger, watcher.note) as bed:
            for note in (*bed.notes, *profile.notes()):
                watcher.note(note)
            record_surroundings(session, bed, calibration=None)
            load_pps = load.to_pps(profile.mean_frame_size, bed.line_rate_bps, profile.rate_pps)
            streams = compile_profile(profile, load_pps, bed.ports.paths)
            runner = TrialRunner(session, bed)
            return runner.run(TrialRequest("single", load_pps, duration_s, streams))
