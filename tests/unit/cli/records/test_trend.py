"""`plimsoll trend`: releases, changes, the gate, and the page."""

import builtins
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.runs_command import Plimsoll
from tests.unit.record.index.run_dirs import (
    EXPERIMENT,
    NOON_NS,
    RESULT,
    finished,
    make_run,
    make_stopped,
    single_trial,
    started,
)
from tests.unit.report.reader import Page
from tests.worded.says import Says, passage

ROOT = Path("runs")
HOUR_NS = 3_600_000_000_000
MPPS = 1e6
# In no order; their standard deviation is 0.8.
SPREAD = (0.2, -1.1, 0.7, -0.3, 1.2, -0.8, 0.4, -0.6, 1.0, -1.2, 0.1, 0.6, -0.1)


def measured(name: str, pps: float, hour: int, experiment: str = EXPERIMENT) -> Path:
    begin = NOON_NS + hour * HOUR_NS
    return make_run(
        ROOT,
        name,
        experiment=experiment,
        events=[started(at_unix_ns=begin), finished(begin + HOUR_NS // 2)],
        result={**RESULT, "load_line": {**RESULT["load_line"], "pps_per_direction": pps}},
    )


def around(level: float, count: int, shift: int) -> list[float]:
    """Repetitions with a spread of half a percent, none more than 1.2 times that away."""
    return [level * (1 + 0.005 * SPREAD[(n + shift) % len(SPREAD)]) for n in range(count)]


def nightly(loads_pps: Sequence[float]) -> None:
    for hour, pps in enumerate(loads_pps):
        measured(f"night-{hour:02d}", pps, hour)


def document(plimsoll: Plimsoll, *words: str) -> dict[str, Any]:
    assert plimsoll("trend", *words, "--json") == 0, plimsoll.err
    found: dict[str, Any] = json.loads(plimsoll.out)
    return found


def test_a_drop_of_two_percent_among_thirty_runs_is_named_and_fails_the_gate(
    plimsoll: Plimsoll,
    says: Says,
) -> None:
    nightly([*around(3 * MPPS, 20, 1), *around(2.94 * MPPS, 10, 2)])
    (figure,) = document(plimsoll)["figures"]
    (change,) = figure["changes"]
    assert change["release"] == "night-20"
    assert change["first_run"] == "runs/night-20"
    assert change["judgement"] == figure["newest"] == "worse"
    assert change["p"] <= 0.01
    shift = change["shift"]
    assert shift["least"] < -0.06 * MPPS < shift["most"] < 0
    assert plimsoll("trend", "--fail-if-worse") == 1
    assert passage(plimsoll.out, "worse", "-1.93") == says()
    assert "from night-20 on" in plimsoll.out


def test_a_regression_that_was_repaired_passes_the_gate(plimsoll: Plimsoll) -> None:
    loads = [*around(3 * MPPS, 12, 1), *around(2.9 * MPPS, 8, 2), *around(3 * MPPS, 10, 3)]
    nightly(loads)
    (figure,) = document(plimsoll)["figures"]
    assert [change["release"] for change in figure["changes"]] == ["night-12", "night-20"]
    assert figure["newest"] == "better"
    assert plimsoll("trend", "--fail-if-worse") == 0


def test_an_accepted_regression_is_left_behind_by_since(plimsoll: Plimsoll, says: Says) -> None:
    nightly([*around(3 * MPPS, 15, 1), *around(2.9 * MPPS, 15, 2)])
    assert plimsoll("trend", "--fail-if-worse") == 1
    # NOON_NS is 2026-03-14T12:00:05Z; the fifteenth run began at 03:00:05 on the next day.
    assert plimsoll("trend", "--fail-if-worse", "--since", "2026-03-15T03:00Z") == 0
    assert passage(plimsoll.out, "15") == says()


@pytest.mark.parametrize(
    ("spread", "kind", "facts"),
    [
        # No run is more than 0.24 % off.
        (0.2, "same", ("1", "15")),
        (4.0, "cannot tell", ("1",)),
    ],
)
def test_no_change_seen_is_the_same_only_within_the_width(
    plimsoll: Plimsoll, spread: float, kind: str, facts: tuple[str, ...], says: Says
) -> None:
    nightly([3 * MPPS * (1 + spread / 100 * SPREAD[n % len(SPREAD)]) for n in range(15)])
    (figure,) = document(plimsoll)["figures"]
    assert figure["newest"] == "no change seen"
    assert figure["conclusion"] == {"kind": kind, "within": 0.01}
    assert plimsoll("trend", "--fail-if-worse") == 0
    assert passage(plimsoll.out, *facts) == says()


def test_repetitions_of_a_release_are_one_point_in_the_order_measured(
    plimsoll: Plimsoll, says: Says
) -> None:
    loads = [*around(3 * MPPS, 12, 1), *around(2.9 * MPPS, 9, 2)]
    for number, pps in enumerate(loads):
        # The releases 4.8 to 4.14 have three repetitions each.
        measured(f"run-{number:02d}", pps, number)
        plimsoll("runs", "tag", f"run-{number:02d}", f"release=4.{8 + number // 3}")
    measured("untagged", 1.0, 90)
    found = document(plimsoll, "--by", "release")
    assert [each["label"] for each in found["releases"]] == [f"4.{n}" for n in range(8, 15)]
    assert [len(values) for values in found["figures"][0]["values"]] == [3] * 7
    (change,) = found["figures"][0]["changes"]
    assert change["release"] == "4.12"
    plimsoll("trend", "--by", "release")
    assert plimsoll.err == says("1")


def test_releases_may_be_in_the_order_of_their_names(plimsoll: Plimsoll) -> None:
    for hour, release in enumerate(("4.10", "4.9", "4.8")):
        measured(f"run-{hour}", 3 * MPPS, hour)
        plimsoll("runs", "tag", f"run-{hour}", f"release={release}")
    by_time = document(plimsoll, "--by", "release")
    by_name = document(plimsoll, "--by", "release", "--order", "name")
    assert [each["label"] for each in by_time["releases"]] == ["4.10", "4.9", "4.8"]
    assert [each["label"] for each in by_name["releases"]] == ["4.8", "4.9", "4.10"]
    assert by_name["figures"][0]["newest"] == "cannot tell"


def test_what_else_changed_with_it_is_named(plimsoll: Plimsoll) -> None:
    other = EXPERIMENT.replace("testpmd-memif", "external")
    for hour, pps in enumerate(around(3 * MPPS, 12, 1)):
        measured(f"run-{hour:02d}", pps, hour)
    for hour, pps in enumerate(around(2.9 * MPPS, 8, 2), start=12):
        measured(f"run-{hour:02d}", pps, hour, other)
    (at,) = document(plimsoll)["facts"]
    assert at["release"] == "run-12"
    assert at["changes"] == [
        {"place": "experiment.lab.kind", "values": [["testpmd-memif"], ["external"]]}
    ]


def test_the_page_begins_with_the_change_and_has_a_chart(plimsoll: Plimsoll) -> None:
    nightly([*around(3 * MPPS, 20, 1), *around(2.94 * MPPS, 10, 2)])
    assert plimsoll("trend", "--html", "trend.html") == 0, plimsoll.err
    html = Path("trend.html").read_text(encoding="utf-8")
    text = Page(html).text
    assert text.index("load line since night-20") < text.index("What else changed")
    assert text.index("What else changed") < text.index("How to reproduce")
    assert "plimsoll trend --html trend.html" in text
    assert 'id="chart-trend-load-line"' in html
    assert plimsoll("trend", "--html", "trend.html") == 2
    assert "--html" in plimsoll.err


def test_names_of_releases_are_text_on_the_page_and_drive_no_terminal(plimsoll: Plimsoll) -> None:
    for hour in range(3):
        measured(f"run-{hour}", 3 * MPPS, hour)
        plimsoll("runs", "tag", f"run-{hour}", f"release=</script><b>{hour}")
    assert plimsoll("trend", "--by", "release", "--html", "trend.html") == 0
    html = Path("trend.html").read_text(encoding="utf-8")
    assert "</script><b>" not in html


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["--figure", "load lien"], ("load lien", "figure", "load")),
        (["--by", "release"], ("0", "plimsoll runs")),
        (["--by", "re lease"], ("re lease", "--by", "63", "0-9")),
        (["run-0"], ("1", "plimsoll trend", "plimsoll runs")),
        (["absent-*"], ("plimsoll runs", "--run", "absent-*")),
        (["--since", "someday"], ("someday", "--since", "7d", "3h")),
    ],
)
def test_what_makes_no_trend_is_refused(
    plimsoll: Plimsoll, words: list[str], facts: tuple[str, ...], says: Says
) -> None:
    measured("run-0", 3 * MPPS, 0)
    measured("run-1", 3 * MPPS, 1)
    make_stopped(ROOT, "cut")
    assert plimsoll("trend", *words) == 2
    assert plimsoll.err == says(*facts)


def test_runs_of_different_methods_are_refused(plimsoll: Plimsoll, says: Says) -> None:
    measured("run-0", 3 * MPPS, 0)
    make_run(ROOT, "trial", events=[started("trial"), single_trial()], result=None)
    assert plimsoll("trend") == 2
    assert plimsoll.err == says("trial")
    assert "--method" in plimsoll.err


def test_without_ruptures_the_remedy_is_the_extra(
    plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch
) -> None:
    nightly(around(3 * MPPS, 12, 1))
    genuine = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "ruptures":
            raise ImportError(name)
        return genuine(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    assert plimsoll("trend") == 3
    assert "build EXTRAS=trend" in plimsoll.err
