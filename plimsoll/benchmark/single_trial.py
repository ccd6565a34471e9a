"""One trial at one load, judged and recorded, without a search."""

from __future__ import annotations

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import load_within_line
from plimsoll.benchmark.session.beginning import begin
from plimsoll.benchmark.session.deaths import deaths_recorded
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.session.watcher import Watcher
from plimsoll.benchmark.testbed.bed_ledger import bed_ledger
from plimsoll.benchmark.testbed.testbed import BedPlan, testbed
from plimsoll.benchmark.trial_run.recorded_trial import TrialRequest, TrialRunner
from plimsoll.benchmark.whole_run.preflight import check_trial
from plimsoll.benchmark.whole_run.surroundings import record_surroundings
from plimsoll.record.recorder import recording
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.units import Rate
from plimsoll.traffic.streams.compile import compile_profile

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
        plan = BedPlan.of(experiment)
        with deaths_recorded(recorder), testbed(plan, ledger, watcher.note) as bed:
            for note in (*bed.notes, *profile.notes()):
                watcher.note(note)
            record_surroundings(session, bed, calibration=None)
            load_pps = load_within_line(load, experiment, bed.line_rate_bps, "load")
            streams = compile_profile(profile, load_pps, bed.ports.paths)
            runner = TrialRunner(session, bed)
            return runner.run(TrialRequest("single", load_pps, duration_s, streams))
