"""`plimsoll compare`: sides, what else changed, and the verdict."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.benchmark.simulated_tests import experiment
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.record.index.run_dirs import (
    EXPERIMENT,
    RESULT,
    make_run,
    make_stopped,
    single_trial,
    started,
)
from tests.unit.report.reader import Page
from tests.unit.report.sample_run import write_sample_run
from tests.worded.says import Says, passage

ROOT = Path("runs")
OLD = [3.00e6, 3.01e6, 3.02e6, 3.03e6, 3.04e6]
NEW = [2.90e6, 2.91e6, 2.92e6, 2.93e6, 2.94e6]


def load_line(pps: float) -> dict[str, Any]:
    return {**RESULT, "load_line": {**RESULT["load_line"], "pps_per_direction": pps}}


def repetitions(name: str, loads_pps: Sequence[float], experiment: str = EXPERIMENT) -> None:
    for number, pps in enumerate(loads_pps):
        make_run(ROOT, f"{name}-{number}", experiment=experiment, result=load_line(pps))


def compared(plimsoll: Plimsoll, *sides: str) -> dict[str, Any]:
    assert plimsoll("compare", *sides, "--json") == 0, plimsoll.err
    document: dict[str, Any] = json.loads(plimsoll.out)
    return document


def test_a_drop_beyond_the_spread_is_worse_and_fails_the_gate(
    plimsoll: Plimsoll, says: Says
) -> None:
    repetitions("old", OLD)
    repetitions("new", NEW)
    assert plimsoll("compare", "old-*", "new-*", "--fail-if-worse") == 1
    assert "load line is worse: -3.31 % (-4.28 % to -2.33 %)" in plimsoll.out
    assert plimsoll("compare", "new-*", "old-*", "--fail-if-worse") == 0
    assert passage(plimsoll.out, "load") == says()


def test_the_document_has_values_shift_and_judgement(plimsoll: Plimsoll) -> None:
    repetitions("old", OLD)
    repetitions("new", NEW)
    document = compared(plimsoll, "old-*", "new-*")
    (figure,) = document["figures"]
    assert (figure["name"], figure["unit"]) == ("load line", "pps per direction")
    assert [side["values"] for side in figure["sides"]] == [OLD, NEW]
    # The 25 differences are from -140 to -60 kpps; of five and five the third is the bound.
    assert figure["shifts"][0]["estimate"] == -100_000
    assert (figure["shifts"][0]["least"], figure["shifts"][0]["most"]) == (-130_000, -70_000)
    assert figure["judgements"] == ["worse"]
    # The third of the 25 ratios from either end: 2.91 / 3.04 and 2.93 / 3.00.
    (found,) = figure["conclusions"]
    assert (found["kind"], found["within"]) == ("worse", 0.01)
    assert found["least_share"] == pytest.approx(2.91 / 3.04 - 1)
    assert found["most_share"] == pytest.approx(2.93 / 3.00 - 1)


def test_one_run_a_side_cannot_tell_and_says_how_many_would(plimsoll: Plimsoll) -> None:
    repetitions("old", OLD[:1])
    repetitions("new", NEW[:1])
    assert plimsoll("compare", "old-0", "new-0", "--fail-if-worse") == 0
    assert "cannot tell whether load line differs: too few runs; about 6" in " ".join(
        plimsoll.out.split()
    )


def test_a_difference_within_the_spread_cannot_be_told(plimsoll: Plimsoll) -> None:
    repetitions("old", [3.0e6, 3.2e6, 2.9e6, 3.1e6])
    repetitions("new", [3.05e6, 2.95e6, 3.15e6, 3.0e6])
    (figure,) = compared(plimsoll, "old-*", "new-*")["figures"]
    assert figure["judgements"] == ["no difference seen"]
    assert figure["conclusions"][0]["kind"] == "cannot tell"
    assert plimsoll("compare", "old-*", "new-*") == 0
    assert "cannot tell whether load line differs" in plimsoll.out
    assert "does not differ" not in plimsoll.out


def test_the_same_is_what_lies_within_the_searchs_width(plimsoll: Plimsoll, says: Says) -> None:
    # All ratios are within 0.4 %: the same at the usual 1 %, and not at a width of 0.1 %.
    loads = [3.000e6, 3.002e6, 3.004e6, 3.006e6]
    repetitions("old", loads)
    repetitions("new", [each + 5_000 for each in loads])
    assert plimsoll("compare", "old-*", "new-*", "--fail-if-worse") == 0
    assert passage(plimsoll.out, "1", "+0.17") == says()
    narrow = EXPERIMENT + "search:\n  width: 0.1%\n"
    repetitions("fine", loads, narrow)
    repetitions("lower", [each - 9_000 for each in loads], narrow)
    assert plimsoll("compare", "fine-*", "lower-*", "--fail-if-worse") == 1
    assert passage(plimsoll.out, "-0.30") == says()


def test_what_else_changed_comes_first(plimsoll: Plimsoll) -> None:
    repetitions("old", OLD[:1])
    repetitions("new", NEW[:1], EXPERIMENT.replace("testpmd-memif", "external"))
    assert plimsoll("compare", "old-0", "new-0") == 0
    head, _, figures = plimsoll.out.partition("Figures")
    assert "experiment.lab.kind" in head
    assert "testpmd-memif" in head
    assert "load line" in figures


def test_sides_may_be_tags(plimsoll: Plimsoll) -> None:
    repetitions("old", OLD)
    repetitions("new", NEW)
    for name in ("old", "new"):
        for number in range(5):
            assert plimsoll("runs", "tag", f"{name}-{number}", f"release={name}") == 0
    document = compared(plimsoll, "release=old", "release=new")
    assert [len(side["runs"]) for side in document["sides"]] == [5, 5]


def test_latency_and_loss_are_of_the_trial_that_the_answer_rests_on(plimsoll: Plimsoll) -> None:
    sample = write_sample_run(ROOT)
    repetitions("new", NEW[:1])
    document = compared(plimsoll, str(sample.path), "new-0")
    names = [figure["name"] for figure in document["figures"]]
    assert names[:2] == ["load line", "p50 latency"]
    assert names[-1] == "loss ratio"
    # The other side's run kept no trial.
    assert document["figures"][1]["judgements"] == ["cannot tell"]


@pytest.mark.parametrize(
    ("sides", "facts"),
    [
        (["old-0"], ("plimsoll compare", "--by")),
        (["old-0", "absent"], ("absent", "plimsoll runs")),
        (["old-0", "old-*", "release=4.19"], ("--resume", "plimsoll runs")),
        (["old-0", "cut"], ("1", "--resume", "plimsoll runs")),
        (["old-0", "trial"], ("trial", "plimsoll runs")),
    ],
)
def test_what_cannot_be_compared_is_refused(
    plimsoll: Plimsoll, sides: list[str], facts: tuple[str, ...], says: Says
) -> None:
    repetitions("old", OLD[:1])
    make_stopped(ROOT, "cut")
    make_run(ROOT, "trial", events=[started("trial"), single_trial()], result=None)
    code = plimsoll("compare", *sides)
    assert code == 2
    assert plimsoll.err == says(*facts)


def test_the_page_begins_with_the_verdict(plimsoll: Plimsoll) -> None:
    repetitions("old", OLD)
    repetitions("new", NEW, EXPERIMENT.replace("testpmd-memif", "external"))
    assert plimsoll("compare", "old-*", "new-*", "--html", "page.html") == 0, plimsoll.err
    html = Path("page.html").read_text(encoding="utf-8")
    text = Page(html).text
    places = [
        text.index(each, text.index("10 runs"))
        for each in (
            "new-* against old-*",
            "-3.31 %",
            "-4.28 % to -2.33 %",
            "1 other fact differs",
            "experiment.lab.kind",
            "old-0",
            "plimsoll compare 'old-*' 'new-*' --html page.html",
        )
    ]
    assert places == sorted(places)
    assert 'id="chart-values-load-line"' in html
    assert 'id="chart-differences"' in html
    # These runs kept no trial, and so no latency.
    assert "No run of these has recorded a latency histogram." in text
    assert plimsoll("compare", "old-*", "new-*", "--html", "page.html") == 2


def test_latencies_of_a_page_are_those_of_the_trials_behind_the_answers(plimsoll: Plimsoll) -> None:
    first, second = write_sample_run(ROOT), write_sample_run(Path("others"))
    words = ("compare", str(first.path), str(second.path), "--html", "page.html")
    assert plimsoll(*words) == 0, plimsoll.err
    html = Path("page.html").read_text(encoding="utf-8")
    for name in ("side-latency-ccdf", "side-latency-percentiles", "values-p99-9-latency"):
        assert f'id="chart-{name}"' in html


def test_from_five_sides_on_the_differences_are_a_heat_map(plimsoll: Plimsoll) -> None:
    for number in range(5):
        repetitions(f"side{number}", [each * (1 - number / 200) for each in OLD])
    sides = [f"side{number}-*" for number in range(5)]
    assert plimsoll("compare", *sides, "--html", "page.html") == 0, plimsoll.err
    html = Path("page.html").read_text(encoding="utf-8")
    assert 'id="chart-difference-grid"' in html
    assert 'id="chart-differences"' not in html
    # Of steps of 0.5, 1, 1.5 and 2 % among a spread of 1.3 %.
    assert "Load line: 0 better, 3 worse, 0 the same within 1 %, 1 cannot tell" in Page(html).text


def test_runs_are_grouped_by_a_tag_and_a_fact(plimsoll: Plimsoll, says: Says) -> None:
    repetitions("old", OLD)
    repetitions("new", NEW, EXPERIMENT.replace("testpmd-memif", "external"))
    for name in ("old", "new"):
        for number in range(5):
            plimsoll("runs", "tag", f"{name}-{number}", f"kernel=6.{10 if number % 2 else 9}")
    (figure,) = compared(plimsoll, "--by", "kernel")["figures"]
    # The order of names: 6.9 before 6.10.
    assert [len(side["values"]) for side in figure["sides"]] == [6, 4]
    words = ("--by", "kernel", "--by", "experiment.lab.kind")
    document = compared(plimsoll, *words)
    assert [side["label"] for side in document["sides"]] == [
        "6.9 · external",
        "6.9 · testpmd-memif",
        "6.10 · external",
        "6.10 · testpmd-memif",
    ]
    assert plimsoll("compare", *words, "--html", "grid.html") == 0, plimsoll.err
    text = Page(Path("grid.html").read_text(encoding="utf-8")).text
    assert passage(text, "kernel", "experiment.lab.kind") == says("kernel", "experiment.lab.kind")
    (figure,) = compared(plimsoll, "old-*", "--by", "kernel")["figures"]
    assert [len(side["values"]) for side in figure["sides"]] == [3, 2]


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["--by", "kernel"], ("0", "plimsoll runs")),
        (["--by", "experiment.name"], ("1", "plimsoll runs")),
        (["--by", "a", "--by", "b", "--by", "c"], ("3",)),
        ([], ("--by", "plimsoll compare")),
    ],
)
def test_what_makes_no_sides_is_refused(
    plimsoll: Plimsoll, words: list[str], facts: tuple[str, ...], says: Says
) -> None:
    repetitions("old", OLD)
    assert plimsoll("compare", *words) == 2
    assert plimsoll.err == says(*facts)


@pytest.fixture
def some_dead(plimsoll: Plimsoll, tmp_path: Path) -> None:
    """Four runs of a DUT that carries 1 Mpps, and four of one that fails at every load."""
    search = {
        "strategy": "binary",
        "minimum": "50kpps",
        "maximum": "2Mpps",
        "duration": "1s",
        "validation": {"duration": "1s"},
    }
    path = tmp_path / "sim.yaml"
    path.write_text(yaml.safe_dump(experiment(search=search).normalised()))
    dead = ("--set", "lab.model.capacity=10kpps", "--set", "lab.model.buffer=64")
    for _ in range(4):
        assert plimsoll("run", path, "--tag", "rel=good", "--tag", "all=some") == 0
        assert plimsoll("run", path, *dead, "--tag", "rel=dead", "--tag", "all=some") == 1


@pytest.mark.usefixtures("some_dead")
def test_a_dut_that_failed_at_every_load_carries_less_than_the_least(plimsoll: Plimsoll) -> None:
    assert plimsoll("compare", "rel=good", "rel=dead", "--fail-if-worse") == 1
    assert "below 50 kpps" in plimsoll.out
    assert plimsoll("compare", "rel=dead", "rel=good", "--fail-if-worse") == 0
    (figure, *_) = compared(plimsoll, "rel=good", "rel=dead")["figures"]
    (found,) = figure["conclusions"]
    assert found["kind"] == "worse"
    assert figure["sides"][1]["values"] == [50e3] * 4
    assert figure["sides"][1]["upper_bounds"] == [True] * 4


@pytest.mark.usefixtures("some_dead")
def test_a_side_half_of_whose_runs_failed_is_not_the_same(plimsoll: Plimsoll) -> None:
    figures = compared(plimsoll, "rel=good", "all=some")["figures"]
    line = next(each for each in figures if each["name"] == "load line")
    assert line["conclusions"][0]["kind"] == "cannot tell"
    assert sum(line["sides"][1]["upper_bounds"]) == 4
    assert plimsoll("compare", "rel=good", "all=some") == 0
    assert "4 of 8 below what was tried" in " ".join(plimsoll.out.split())
    latency = next(each for each in figures if each["name"] == "p99 latency")
    assert [side["without"] for side in latency["sides"]] == [0, 4]
