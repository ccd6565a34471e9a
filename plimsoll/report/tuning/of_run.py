"""How the hosts of a load line's run were tuned, without all else that its page shows."""

from __future__ import annotations

from plimsoll.record.results.result import read_result
from plimsoll.record.run.audit_record import read_audits
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.data.host_figures import observed_host_figures, only_trial
from plimsoll.report.data.run_data import focus_trial
from plimsoll.report.tuning.section import TuningSection, tuning_section


def tuning_of_run(run: RunDirectory) -> TuningSection:
    """As the run's own page has it; empty where it was not audited. Raises RecordError."""
    audits = read_audits(run)
    if not audits:
        return tuning_section((), ())
    focus = focus_trial(read_journal(run.journal).trials(), read_result(run))
    environment = load_environment(run.environment)
    hosts = observed_host_figures(run, environment, focus) if focus else None
    return tuning_section(audits, only_trial(focus, hosts))
