"""What a report tells of the hosts, from rows that were written by hand."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.methods.soak.data import load_soak
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import JournalContents, JournalEvent
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report import write_report
from plimsoll.report.charts import drawn_types
from plimsoll.report.charts.hosts.cpu_time import cpu_time
from plimsoll.report.charts.hosts.interrupt_rate import interrupt_rate
from plimsoll.report.data.run_data import RunData, load_run
from plimsoll.report.hosts.section import HostSection, host_sections
from tests.unit.methods.soak.soak_runs import soak_settings, soaked
from tests.unit.record.relisting import relist
from tests.unit.report.reader import Page
from tests.unit.report.rendering import rendered
from tests.unit.trial.host_record import Series, observed_host, rows_of, share, write_parquet
from tests.worded.says import Says, passage

HOSTILE = "<script>alert('irq')</script>"
MISSING = {"cpufreq": "the host has no cpufreq driver, as most guests"}


Counts = tuple[float, float, int]


def counted(source: str, kind: str, names: dict[str, str], *each: Counts, **more: Any) -> Series:
    return Series(source, kind, names, each, unit="1/s", counted=True, **more)


def interrupt(cpu: int, irq: str, desc: str, *each: Counts) -> Series:
    names = {"cpu": str(cpu), "irq": irq, "desc": desc}
    return counted("procstat", "interrupts-sec", names, *each)


# The validation sends for sixty seconds.
SERIES = (
    share(0, "usr", 0.9),
    share(0, "guest", 0.05),
    share(0, "sys", 0.03),
    share(0, "idle", 0.02),
    share(1, "usr", 0.9996),
    share(1, "steal", 0.0004),
    share(2, "idle", 1.0),
    interrupt(0, "LOC", "Local timer interrupts", (0, 60, 60 * 250)),
    interrupt(1, "LOC", "Local timer interrupts", (0, 60, 60)),
    interrupt(1, "31", HOSTILE, (0, 30, 0), (30, 31, 600), (31, 60, 0)),
    interrupt(1, "NMI", "Non-maskable interrupts", (0, 60, 0)),
    interrupt(2, "31", HOSTILE, (0, 60, 9999)),
    counted("procstat", "softirqs-sec", {"cpu": "1", "type": "TIMER"}, (0, 60, 30)),
    counted("sar-mem", "Page-major-faults-sec", {}, (0, 60, 0)),
    counted("sar-mem", "KB-Paged-in-sec", {}, (0, 60, 18)),
    counted("sar-mem", "KB-Paged-out-sec", {}, (0, 60, 384_000)),
    counted("sar-tasks", "Context-switches-sec", {}, (0, 60, 7380)),
    Series("sar-scheduler", "Run-Queue-Length", {}, ((0, 30, 5), (30, 60, 2)), unit="tasks"),
    Series("sar-mem", "Hugepages-Total", {"node": "0", "size": "2048kB"}, ((0, 60, 512),)),
    Series("sar-mem", "Hugepages-Total", {"node": "1", "size": "2048kB"}, ((0, 60, 512),)),
    Series("sar-mem", "Hugepages-Free", {"node": "0", "size": "2048kB"}, ((0, 60, 500),)),
    Series("sar-mem", "Hugepages-Free", {"node": "1", "size": "2048kB"}, ((0, 60, 300),)),
    counted(
        "cgroup",
        "cpu-throttled-periods-sec",
        {"cgroup": "/dut.slice", "process": "agent dpdk-testpmd"},
        (10, 11, 4),
    ),
    counted("dpdk", "rx-missed-sec", {"app": "dpdk-testpmd", "port": "0"}, (0, 60, 0)),
    counted("dpdk", "rx-missed-sec", {"app": "dpdk-testpmd", "port": "1"}, (5, 6, 7)),
    counted("dpdk", "tx-errors-sec", {"app": "dpdk-testpmd", "port": "1"}, (5, 6, 2)),
    counted("smi", "smis-sec", {"package": "0"}, (0, 60, 3), aggregation="max"),
    counted("smi", "smis-sec", {"package": "1"}, (0, 60, 3), aggregation="max"),
)  # fmt: skip


def section_of(data: RunData) -> HostSection:
    (section,) = host_sections(data.observed)
    return section


@pytest.fixture(scope="module")
def observed(finished_run: RunDirectory, tmp_path_factory: pytest.TempPathFactory) -> RunData:
    """The finished run with a host during its last validation, trial 14."""
    path = tmp_path_factory.mktemp("runs") / finished_run.run_id
    shutil.copytree(finished_run.path, path)
    run = RunDirectory(path)
    trial = load_run(run, drawn_types()).focus
    assert trial is not None
    add_host_series(run, trial, SERIES)
    return load_run(run, drawn_types())


def add_host_series(run: RunDirectory, trial: TrialRecord, series: tuple[Series, ...]) -> None:
    """Record a host's series during a trial of a run."""
    environment = load_environment(run.environment)
    assert environment is not None
    hosts = (observed_host(missing=MISSING),)
    environment.model_copy(update={"observed": hosts}).write(run.environment)
    period, begin_ms = trial_period(trial.number), trial.begin_unix_ns // 10**6
    rows = [row for each in series for row in rows_of(each, period, begin_ms)]
    write_parquet(run.metrics / f"{period}@bench-07.parquet", rows)
    relist(run)


@pytest.fixture(scope="module")
def section(observed: RunData) -> HostSection:
    return section_of(observed)


def test_the_time_of_each_cpu_under_test_is_reported_by_what_it_did(section: HostSection) -> None:
    headings, rows = section.cpus.words()
    assert headings[2:] == ("User", "System", "Interrupts", "Softirqs", "Stolen", "Idle")
    assert rows == (
        ("bench-07 CPU 0", "tester", "95 %", "3 %", "0 %", "0 %", "0 %", "2 %"),
        ("bench-07 CPU 1", "DUT", "99.96 %", "0 %", "0 %", "0 %", "0.04 %", "0 %"),
    )


def test_each_figure_is_reported_with_its_place(section: HostSection) -> None:
    shown = (cells for _, cells in section.figures.shown_rows)
    found = {(what.text, where.text): (of.text, of.mark) for what, of, where, _ in shown}
    assert found == {
        ("Time stolen, worst CPU", "bench-07 CPU 1"): ("0.04 %", "invalid"),
        ("Interrupts", "bench-07 CPU 0"): ("250 a second", ""),
        # A minute of one a second, and 600 within one.
        ("Interrupts", "bench-07 CPU 1"): ("11 a second", ""),
        ("Softirqs", "bench-07 CPU 1"): ("0.5 a second", ""),
        ("Throttled periods of agent, dpdk-testpmd", "bench-07 /dut.slice"): ("4", "invalid"),
        ("Major page faults", "bench-07"): ("0", "ok"),
        ("Paged in", "bench-07"): ("0.3 KiB/s", ""),
        ("Paged out", "bench-07"): ("6,400 KiB/s", ""),
        ("Run queue", "bench-07"): ("3.5, at most 5; 2 CPUs", ""),
        ("Context switches", "bench-07"): ("123 a second", ""),
        ("System management interrupts", "bench-07"): ("3", "invalid"),
        ("Hugepages of 2048kB", "bench-07"): ("224 of 1,024", ""),
        ("Frames dropped at the DUT's ports", "bench-07 dpdk-testpmd"): ("9", "invalid"),
    }


def test_figures_that_should_be_zero_are_counted(section: HostSection) -> None:
    assert (section.number, len(section.marked.rows)) == (14, 4)


def test_figures_have_values_and_units_for_programs(section: HostSection) -> None:
    figures = {(each["what"], each["where"]): each for each in section.figures.records()}
    switches = figures["Context switches", "bench-07"]
    assert (switches["figure"], switches["unit"]) == (123.0, "per second")
    dropped = figures["Frames dropped at the DUT's ports", "bench-07 dpdk-testpmd"]
    assert (dropped["figure"], dropped["unit"]) == (9, "frames")


def test_sentences_follow_the_figures(section: HostSection, says: Says) -> None:
    meanings = section.figures.words("what", "meaning")[1]
    said = dict(meanings)
    assert said["Major page faults"] == says()
    assert said["Run queue"] == says()
    interrupts = [meaning for what, meaning in meanings if what == "Interrupts"]
    assert interrupts[1] == says("31", str(HOSTILE), "10", "1")


def test_what_was_seen_of_a_part_of_the_time_is_said_to_be(observed: RunData) -> None:
    """As where the observer died, or was stopped: its figures are about a part alone."""
    assert observed.hosts is not None
    longer = replace(observed.hosts, end_ms=observed.hosts.end_ms + 90_000, _known={})
    section = section_of(replace(observed, hosts=longer))
    first = next(cells for _, cells in section.figures.shown_rows)
    assert [cell.text for cell in first[:2]] == ["Observed", "60 s of 150 s"]
    assert first[1].mark == "invalid"


def test_a_host_that_was_not_reached_is_reported_with_the_reason(
    observed: RunData, says: Says
) -> None:
    assert observed.hosts is not None
    why = "the observer has ended: ssh: no route to dut.lab"
    lost = observed_host("dut.lab", sources=(), missing={"mpstat": why, "smi": why})
    hosts = replace(observed.hosts, hosts=(lost,), _known={})
    section = section_of(replace(observed, hosts=hosts))
    assert section.observers == (says("dut.lab", str(why)),)
    assert (*section.cpus.rows, *section.figures.rows, *section.unobserved.rows) == ()


def test_the_page_tells_it_all_and_runs_nothing_of_it(observed: RunData, says: Says) -> None:
    page = rendered(observed)
    assert HOSTILE not in page
    text = Page(page).text
    assert text.index("Why believe it") < text.index("Hosts") < text.index("Tuning")
    assert f"31 {HOSTILE} 10" in text
    assert passage(text, "bench-07", "1", "2-3") == says("bench-07", "1", "2-3")
    assert text.index("What could not be observed") < text.index(MISSING["cpufreq"])


def test_every_chart_of_hosts_stands_in_their_section(observed: RunData) -> None:
    section = rendered(observed).partition('<section id="hosts">')[2].partition("</section>")[0]
    drawn = re.findall(r'<div class="chart" id="chart-([a-z-]+)"', section)
    assert drawn == ["cpu-time", "cpu-busy", "interrupt-rate"]


def test_what_was_allocated_by_resctrl_is_told(observed: RunData, says: Says) -> None:
    def up(mask: str) -> JournalEvent:
        groups = [
            {"name": "fenced", "of": ["noise"], "cpus": "", "schemata": {"L3": {"0": mask}}},
            {
                "name": "loops",
                "of": ["tester", "dut"],
                "cpus": "2-4",
                "schemata": {"MB": {"0": "100", "1": "50"}, "L3": {"0": "7fc"}},
            },
        ]
        default = {"cpus": "0-1", "schemata": {"L3": {"0": "7ff"}}}
        return JournalEvent("lab-up", 2, {"resctrl": {"groups": groups, "default": default}})

    # The run went on with other masks.
    events = (*observed.journal.events, up("1"), up("3"))
    page = Page(rendered(replace(observed, journal=JournalContents(events)))).text
    assert "fenced (noise) had L3 0=3. loops (CPUs 2-4) had MB 0=100, 1=50; L3 0=7fc." in page
    assert passage(page, "L3", "0=7ff") == says()
    assert "resctrl, by the id" not in Page(rendered(observed)).text


def test_criteria_on_hosts_are_reported_with_their_sentences(observed: RunData) -> None:
    assert observed.focus is not None
    sentence = "bench-07 CPU 1: 0.04 % of its time was stolen"
    steal = FindingRecord(
        rule="steal", subject="bench-07 CPU 1", value=0.0004, limit=0.001, unit="ratio",
        outcome="ok", text=sentence,
    )  # fmt: skip
    trial = observed.focus.model_copy(update={"findings": (*observed.focus.findings, steal)})
    judged = replace(observed, focus=trial)
    assert section_of(judged).verdicts == (steal,)
    assert sentence in Page(rendered(judged)).text


def test_a_run_without_observers_says_so(finished: RunData) -> None:
    text = Page(rendered(finished)).text
    assert "Hosts No host was observed during this trial." in text
    assert "Time of the CPUs under test" not in text


def test_a_run_before_its_first_trial_has_no_hosts(cut_short: Callable[[int], RunData]) -> None:
    assert host_sections(cut_short(3).observed) == ()
    assert "No host was observed during this trial." in Page(rendered(cut_short(3))).text


def values_of(chart: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = chart.to_dict()["data"]["values"]
    return found


def test_the_time_of_cpus_is_a_bar_each(observed: RunData) -> None:
    rows = values_of(cpu_time(observed).chart)
    shares = {(row["cpu"], row["state"]): row["share"] for row in rows}
    assert shares["bench-07 CPU 0", "user"] == pytest.approx(0.95)
    assert shares["bench-07 CPU 1", "stolen"] == pytest.approx(0.0004)
    assert len(rows) == 2 * 6
    whole = sum(row["share"] for row in rows if row["cpu"] == "bench-07 CPU 0")
    assert whole == pytest.approx(1.0)


def test_interrupts_are_a_line_for_each_cpu_with_their_peaks(observed: RunData) -> None:
    rows = values_of(interrupt_rate(observed).chart)
    lines = {
        cpu: [row["rate"] for row in rows if row["cpu"] == cpu]
        for cpu in ("bench-07 CPU 0", "bench-07 CPU 1")
    }
    assert lines["bench-07 CPU 0"] == pytest.approx([250.0] * 60)
    assert lines["bench-07 CPU 1"] == pytest.approx([1.0] * 30 + [601.0] + [1.0] * 29)
    assert rows[0]["time"] == pytest.approx(0.5)


def test_a_soak_tells_of_the_hosts_next_to_its_longest_trial(tmp_path: Path) -> None:
    run, _ = soaked(tmp_path, soak_settings())
    assert "No host was observed during this trial." in text_of_soak(run)
    longest = load_soak(run).longest
    assert longest is not None
    busy = Series("mpstat", "Busy-CPU", {"num": "1", "type": "usr"}, ((0, 180, 0.75),))
    add_host_series(run, longest, (busy,))
    assert "bench-07 CPU 1 DUT 75 %" in text_of_soak(run)


def text_of_soak(run: RunDirectory) -> str:
    return Page(write_report(run).read_text(encoding="utf-8")).text
