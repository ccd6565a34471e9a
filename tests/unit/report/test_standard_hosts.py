"""What pages of standard tests tell of the hosts, during the trials that answer."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from plimsoll.errors import Interrupted
from plimsoll.methods.latency_at_load.run import run_latency_at_load
from plimsoll.methods.latency_at_load.settings import LatencyAtLoadSettings
from plimsoll.methods.probe.run import run_probe
from plimsoll.methods.probe.settings import ProbeSettings
from plimsoll.methods.rfc2544.page import run_page
from plimsoll.methods.rfc2544.run import run_rfc2544
from plimsoll.methods.rfc2544.settings import BurstSettings, Rfc2544Settings
from plimsoll.methods.rfc9004.run import run_rfc9004
from plimsoll.methods.rfc9004.settings import Rfc9004Settings
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report import write_report
from plimsoll.report.tuning.section import TuningSection
from plimsoll.text.units import Rate
from tests.unit.benchmark.audits import audit_of, finding
from tests.unit.benchmark.simulated_tests import (
    CAPACITY_PPS,
    Seen,
    experiment,
    run_directory,
)
from tests.unit.record.relisting import relist
from tests.unit.report.reader import Page
from tests.unit.trial.host_record import HOSTNAME, interrupts, observed_host, rows_of, write_parquet
from tests.worded.says import Says

THROUGHPUT = Rfc2544Settings.quickly().model_copy(
    update={"sizes": (64, 1518), "tests": ("throughput",)}
)


def audited(run: RunDirectory) -> RunDirectory:
    """The run with a host that was observed and audited, as simulated runs never are."""
    environment = load_environment(run.environment)
    assert environment is not None
    environment.model_copy(update={"observed": (observed_host(),)}).write(run.environment)
    audit_of(HOSTNAME, finding(26, "ok"), finding(33, "ok")).write(run.audit)
    return run


def add_host_series(run: RunDirectory, trial: TrialRecord, each_second: int) -> None:
    """Record so many interrupts of a card in each second of a trial."""
    period, begin_ms = trial_period(trial.number), trial.begin_unix_ns // 10**6
    counts = [each_second] * round(trial.sending_s)
    rows = list(rows_of(interrupts(1, "31", "nic-rx", counts), period, begin_ms))
    write_parquet(run.metrics / f"{period}@{HOSTNAME}.parquet", rows)
    relist(run)


def trials_of(run: RunDirectory) -> dict[int, TrialRecord]:
    return {trial.number: trial for trial in read_journal(run.journal).trials()}


def text_of(run: RunDirectory) -> str:
    return Page(write_report(run).read_text(encoding="utf-8")).text


def assert_in_order(text: str, parts: Sequence[str]) -> None:
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


@pytest.fixture(scope="module")
def rfc2544(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunDirectory, list[int]]:
    """A run of two sizes, and the final trial of each by its result."""
    plan = experiment()
    run = run_directory(tmp_path_factory.mktemp("runs"), plan)
    result = run_rfc2544(plan, THROUGHPUT, run, Seen())
    finals = [row.final_trial for row in result.parts.throughput or ()]
    return audited(run), [final for final in finals if final is not None]


def test_rfc_2544_tells_of_the_final_trial_of_each_size(
    rfc2544: tuple[RunDirectory, list[int]],
) -> None:
    run, (small, large) = rfc2544
    trials = trials_of(run)
    add_host_series(run, trials[small], 5)
    add_host_series(run, trials[large], 80)
    text = text_of(run)
    assert_in_order(
        text,
        (
            "Hosts During the final trial",
            f"64 B · trial {small}",
            "5 a second",
            f"1518 B · trial {large}",
            "80 a second",
            "Tuning Each host's settings as its audit found them",
            f"trials {small} (64 B), {large} (1518 B)",
            "64 B: devices interrupted CPUs under test, a second: 31 nic-rx 5",
            "Trials",
        ),
    )
    # The checks are reported once, whatever the number of trials.
    assert text.count("Title of 33") == 1


def lines_of(run: RunDirectory) -> list[tuple[object, object]]:
    """Verdict and happening of check 33 on the page."""
    tuning = run_page(run).content["tuning"]
    assert isinstance(tuning, TuningSection)
    (host,) = tuning.hosts
    tables = (host.seen, host.settings, host.others)
    lines = (line for table in tables for line in table.records())
    return [(line["verdict"], line["happened"]) for line in lines if line["check"] == 33]


def test_the_trial_with_the_worst_verdict_is_reported(
    rfc2544: tuple[RunDirectory, list[int]],
) -> None:
    run, (small, large) = rfc2544
    trials = trials_of(run)
    add_host_series(run, trials[small], 0)
    add_host_series(run, trials[large], 80)
    message = "1518 B: devices interrupted CPUs under test, a second: 31 nic-rx 80"
    assert lines_of(run) == [("fail", message)]


def test_what_is_the_same_in_all_trials_names_none(
    rfc2544: tuple[RunDirectory, list[int]],
    says: Says,
) -> None:
    run, finals = rfc2544
    for final in finals:
        add_host_series(run, trials_of(run)[final], 0)
    assert lines_of(run) == [("ok", says())]


def test_rfc_2544_that_goes_on_tells_of_what_there_is(tmp_path: Path) -> None:
    plan = experiment()
    run = run_directory(tmp_path, plan)
    with pytest.raises(Interrupted):
        run_rfc2544(plan, THROUGHPUT, run, Seen(most=4))
    last = max(trials_of(audited(run)))
    text = text_of(run)
    assert f"Figures of trial {last}, search at" in text
    assert "1518 B" not in text


def test_rfc_9004_tells_of_throughput_and_not_of_bursts(tmp_path: Path) -> None:
    bursts = BurstSettings(limit_s=0.02, granularity=0.1, repeats=1)
    settings = Rfc9004Settings.quickly().model_copy(update={"sizes": (64,), "bursts": bursts})
    plan = experiment()
    run = run_directory(tmp_path, plan)
    result = run_rfc9004(plan, settings, run, Seen())
    final = result.rows[0].throughput.final_trial
    assert final is not None
    trials = trials_of(audited(run))
    assert trials[max(trials)].phase == "back-to-back"
    add_host_series(run, trials[final], 7)
    text = text_of(run)
    assert_in_order(text, (f"Figures of trial {final}, validation at", "7 a second", "31 nic-rx 7"))


def test_latency_at_load_tells_of_each_load_from_the_highest(tmp_path: Path) -> None:
    plan = LatencyAtLoadSettings.quickly().model_copy(
        update={"rate": Rate(CAPACITY_PPS, "pps"), "rate_from": "given", "percents": (0, 10, 90)}
    )
    planned = experiment()
    run = run_directory(tmp_path, planned)
    points = run_latency_at_load(planned, plan, run, Seen()).points
    idle, light, heavy = (point.trial for point in points)
    add_host_series(audited(run), trials_of(run)[heavy], 9)
    text = text_of(run)
    assert_in_order(
        text,
        (
            f"90 % of the rate · trial {heavy}",
            "9 a second",
            f"10 % of the rate · trial {light}",
            f"Probes alone · trial {idle}",
            "90 % of the rate: devices interrupted CPUs under test, a second: 31 nic-rx 9",
        ),
    )


def test_a_probe_tells_of_its_longest_trial(tmp_path: Path) -> None:
    plan = experiment()
    run = run_directory(tmp_path, plan)
    run_probe(plan, ProbeSettings(duration_s=10), run, Seen())
    (trial,) = trials_of(audited(run)).values()
    add_host_series(run, trial, 3)
    text = text_of(run)
    assert_in_order(
        text,
        (
            "During the longest trial in which probes were sent.",
            f"Figures of trial {trial.number}, probe without load, 10s",
            "3 a second",
            "a second: 31 nic-rx 3",
        ),
    )


def test_a_run_without_hosts_or_audit_says_so(tmp_path: Path) -> None:
    plan = experiment()
    run = run_directory(tmp_path, plan)
    with pytest.raises(Interrupted):
        run_rfc2544(plan, THROUGHPUT, run, Seen(most=1))
    text = text_of(run)
    assert "No host was observed during this trial." in text
    assert "No host was audited in this run." in text
