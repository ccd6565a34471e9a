"""`plimsoll runs`: the list, its filters, and what is reported of damaged runs."""

import io
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from plimsoll.record.index.find import read_index
from plimsoll.record.run.run_lock import locked
from plimsoll.terminal.tables.runs_table import RunsTable
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.record.index.run_dirs import (
    NOON_NS,
    RESULT,
    SIMULATED,
    finished,
    make_matrix,
    make_run,
    make_stopped,
    single_trial,
    started,
)
from tests.worded.says import Says

ROOT = Path("runs")
HOUR_NS = 3600 * 10**9


@pytest.fixture
def four_runs(plimsoll: Plimsoll) -> Plimsoll:
    """A load line, none found, one stopped and one trial, an hour apart."""
    make_run(ROOT, "20260314T120005-demo")
    make_run(
        ROOT,
        "20260314T130005-demo",
        experiment=SIMULATED,
        events=[started(at_unix_ns=NOON_NS + HOUR_NS), finished(NOON_NS + HOUR_NS + 1)],
        result={**RESULT, "load_line": None, "validation": None},
    )
    make_stopped(ROOT, "20260314T140005-demo-soak", events=[started("soak", NOON_NS + 2 * HOUR_NS)])
    make_run(
        ROOT,
        "20260314T150005-demo-trial",
        events=[started("trial", NOON_NS + 3 * HOUR_NS), single_trial()],
        result=None,
    )
    assert plimsoll("runs", "tag", "20260314T120005", "kernel=6.1", "nic=e810") == 0
    assert plimsoll("runs", "tag", "20260314T130005", "kernel=6.6") == 0
    return plimsoll


def listed(plimsoll: Plimsoll, *words: object) -> list[str]:
    assert plimsoll("runs", *words, "--json") == 0
    return [each["id"][9:11] for each in json.loads(plimsoll.out)]


def test_the_list_has_a_row_a_run_with_the_latest_first(four_runs: Plimsoll, says: Says) -> None:
    assert four_runs("runs") == 0
    heads, *rows = [re.split(r"\s{2,}", line.strip()) for line in four_runs.out.splitlines()]
    assert heads == ["run", "began", "method", "DUT", "answer", "state", "tags"]
    # How long ago they began is another one every day.
    assert [[row[0], *row[2:]] for row in rows] == [
        [
            "20260314T150005-demo-trial",
            "trial",
            "testpmd-memif",
            says("500"),
            "finished",
        ],
        ["20260314T140005-demo-soak", "soak", "testpmd-memif", "-", "stopped"],
        [
            "20260314T130005-demo",
            "load-line",
            "simulated/rare-stalls",
            "no load line",
            "finished",
            "kernel=6.6",
        ],
        [
            "20260314T120005-demo",
            "load-line",
            "testpmd-memif",
            "3.025 Mpps per direction",
            "finished",
            "kernel=6.1 nic=e810",
        ],
    ]
    assert four_runs.err == says("4")


@pytest.mark.parametrize(
    ("words", "hours"),
    [
        ([], ["15", "14", "13", "12"]),
        (["list"], ["15", "14", "13", "12"]),
        (["list", "--tag", "kernel"], ["13", "12"]),
        (["--tag", "kernel=6.1"], ["12"]),
        (["--tag", "kernel", "--tag", "nic"], ["12"]),
        (["--dut", "testpmd-memif"], ["15", "14", "12"]),
        (["--dut", "rare-stalls"], ["13"]),
        (["--method", "soak", "--method", "trial"], ["15", "14"]),
        (["--verdict", "pass"], ["12"]),
        (["--verdict", "fail"], ["15", "13"]),
        (["--verdict", "none"], ["14"]),
        (["--state", "stopped"], ["14"]),
        (["--state", "finished", "--limit", "2"], ["15", "13"]),
        (["--utc", "--since", "2026-03-14T13:00:05"], ["15", "14", "13"]),
        (["--utc", "--until", "2026-03-14T13:00:05"], ["12"]),
        (["--since", "2026-03-14T15:30:05+02:00"], ["15", "14"]),
        (["--utc", "--since", "2026-03-15"], []),
        (["--utc", "--until", "2026-03-14"], ["15", "14", "13", "12"]),
        (["--utc", "--until", "2026-03-13"], []),
        (["--name", "*-soak"], ["14"]),
        (["--name", "demo"], ["15", "14", "13", "12"]),
        (["--sort", "answer"], ["12", "15", "14", "13"]),
        (["--sort", "id"], ["12", "13", "14", "15"]),
        (["--sort", "began", "--reverse"], ["12", "13", "14", "15"]),
        (["--sort", "method", "--limit", "3"], ["13", "12", "14"]),
    ],
)
def test_filters_and_orders(four_runs: Plimsoll, words: list[str], hours: list[str]) -> None:
    assert listed(four_runs, *words) == hours


@pytest.fixture
def ten_hours_east() -> Iterator[None]:
    """The four runs began at 22:00, 23:00, 0:00 and 1:00 of this host's time."""
    with pytest.MonkeyPatch.context() as patch:
        # As POSIX writes it.
        patch.setenv("TZ", "EAST-10")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("words", "hours"),
    [
        (["--since", "2026-03-14T23:00:05"], ["15", "14", "13"]),
        (["--since", "2026-03-14T23:00:05", "--utc"], []),
        (["--since", "2026-03-14T13:00:05Z"], ["15", "14", "13"]),
        (["--since", "2026-03-15"], ["15", "14"]),
        (["--until", "2026-03-14"], ["13", "12"]),
        (["--until", "2026-03-14", "--utc"], ["15", "14", "13", "12"]),
    ],
)
@pytest.mark.usefixtures("ten_hours_east")
def test_times_are_the_hosts_own(four_runs: Plimsoll, words: list[str], hours: list[str]) -> None:
    assert listed(four_runs, *words) == hours


def test_as_json_everything_is_reported(four_runs: Plimsoll) -> None:
    assert four_runs("runs", "note", "20260314T120005", "after the BIOS update") == 0
    assert four_runs("runs", "--name", "20260314T120005-demo", "--json") == 0
    (entry,) = json.loads(four_runs.out)
    (note,) = entry.pop("notes")
    assert note["text"] == "after the BIOS update"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", note["at"])
    assert entry == {
        "id": "20260314T120005-demo",
        "path": "runs/20260314T120005-demo",
        "state": "finished",
        "method": "load-line",
        "name": "demo",
        "dut": "testpmd-memif",
        "model": None,
        "began": "2026-03-14T12:00:05Z",
        "ended": "2026-03-14T12:01:05Z",
        "answer": {
            "text": "3.025 Mpps per direction",
            "figure": "load line",
            "value": 3_025_000.0,
            "unit": "pps per direction",
        },
        "verdict": "pass",
        "period": "trial-0007",
        "trials": 0,
        "versions": {"plimsoll": "0.1.0", "engine": None},
        "tags": {"kernel": "6.1", "nic": "e810"},
        "damage": [],
    }


def test_a_running_run_is_reported_as_such(four_runs: Plimsoll) -> None:
    with locked(ROOT / "20260314T140005-demo-soak" / "lock"):
        assert listed(four_runs, "--state", "running") == ["14"]


def test_damaged_runs_are_reported_below_and_the_rest_is_listed(
    four_runs: Plimsoll, says: Says
) -> None:
    (ROOT / "20260314T160005-empty").mkdir()
    (ROOT / "20260314T120005-demo" / "result.json").write_text("")
    (ROOT / "20260314T130005-demo" / "notes.json").write_text("")
    assert four_runs("runs") == 0
    ids = [line.split()[0] for line in four_runs.out.splitlines()[1:]]
    assert [each[9:11] for each in ids] == ["15", "14", "13"]
    assert four_runs.err == says("3", "5", "plimsoll runs")
    said = four_runs.err
    assert said == says(
        "damaged",
        "runs/20260314T160005-empty",
        "experiment.yaml",
        "remedy",
        "runs/20260314T120005-demo/result.json",
        "runs/20260314T130005-demo/notes.json",
        "plimsoll runs",
    )
    assert four_runs("runs", "--json") == 0
    entries = {each["id"]: each for each in json.loads(four_runs.out)}
    assert entries["20260314T160005-empty"]["state"] == "damaged"
    assert entries["20260314T160005-empty"]["began"] == "2026-03-14T16:00:05Z"
    (damage,) = entries["20260314T120005-demo"]["damage"]
    assert damage["where"] == "runs/20260314T120005-demo/result.json"
    assert damage["remedy"].startswith("restore it")
    assert entries["20260314T130005-demo"]["state"] == "finished"


def test_nothing_but_damage_is_no_table(plimsoll: Plimsoll) -> None:
    (ROOT / "20260314T160005-empty").mkdir(parents=True)
    assert plimsoll("runs") == 0
    assert plimsoll.out == ""
    assert "0 of 1 runs" in plimsoll.err


def test_parts_of_a_matrix_are_listed_when_requested(plimsoll: Plimsoll) -> None:
    make_matrix(ROOT, "20260314T130000-sizes")
    assert plimsoll("runs", "--json") == 0
    assert [each["id"] for each in json.loads(plimsoll.out)] == ["20260314T130000-sizes"]
    assert plimsoll("runs", "--all", "--sort", "id", "--json") == 0
    assert [each["id"] for each in json.loads(plimsoll.out)] == [
        "20260314T130000-sizes",
        "20260314T130000-sizes/iteration-0001/sample-1",
        "20260314T130000-sizes/iteration-0001/sample-2",
    ]


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["--runs", "gone"], ("gone",)),
        (["--tag", "a b"], ("a b", "--tag")),
        (["--tag", "a="], ("--tag",)),
        (["--verdict", "good"], ("good", "--verdict")),
        (["--state", "sleepy"], ("sleepy", "--state")),
        (["--since", "soon"], ("soon", "--since")),
        (["--until", "2026-13-01"], ("2026-13-01", "--until")),
        (["--since", "99999999999d"], ("99999999999d", "--since")),
    ],
)
def test_mistakes(plimsoll: Plimsoll, words: list[str], facts: tuple[str, ...], says: Says) -> None:
    ROOT.mkdir()
    assert plimsoll("runs", *words) == 2
    assert plimsoll.err == says(*facts)
    assert "remedy:" in plimsoll.err
    assert plimsoll.out == ""


def test_names_of_others_cannot_drive_the_terminal(plimsoll: Plimsoll) -> None:
    evil = "\x1b]0;owned\x07[bold red]\u202e"
    make_run(
        ROOT,
        f"20260314T120005-{evil}",
        experiment=f"name: {json.dumps(evil)}\nlab: {{kind: {json.dumps(evil)}}}\n",
        events=[started(evil), finished()],
    )
    (ROOT / f"20260314T160005-{evil}").mkdir()
    notes = {"format": 1, "tags": {evil: evil}, "notes": [{"at_unix_ns": 1, "text": evil}]}
    (ROOT / f"20260314T120005-{evil}" / "notes.json").write_text(json.dumps(notes))
    for words in (["runs"], ["runs", "show", "20260314T12"], ["runs", "show", "20260314"]):
        plimsoll(*words)
        for said in (plimsoll.out, plimsoll.err):
            assert all(line.isprintable() for line in said.split("\n"))
    assert plimsoll("runs", "--json") == 0
    assert plimsoll.out.isascii()
    assert "\x1b" not in plimsoll.out
    assert json.loads(plimsoll.out)[1]["name"] == evil


def test_a_name_that_the_id_does_not_tell_has_a_column(plimsoll: Plimsoll) -> None:
    make_run(ROOT, "renamed")
    assert plimsoll("runs") == 0
    heads, row = plimsoll.out.splitlines()
    assert heads.split() == ["run", "began", "method", "name", "DUT", "answer", "state"]
    assert " demo " in row


@pytest.mark.parametrize(("width", "lines"), [(200, 5), (100, 9), (60, 9)])
def test_what_does_not_fit_in_a_row_gets_two_lines(
    four_runs: Plimsoll, width: int, lines: int, says: Says
) -> None:
    file = io.StringIO()
    console = Console(file=file, width=width)
    now = datetime(2026, 3, 14, 16, tzinfo=UTC)
    console.print(RunsTable(list(read_index(ROOT)), now))
    text = file.getvalue()
    if width >= 100:
        assert len(text.splitlines()) == lines
        assert max(map(len, text.splitlines())) <= width
        assert text == says("3.025")
    for part in ("20260314T120005-demo", "3 h ago", "kernel=6.1 nic=e810", "simulated/rare-stalls"):
        assert part in text
    assert four_runs.err == ""
