"""The trend of runs on a page of the application."""

from pathlib import Path

import pytest
from starlette.datastructures import QueryParams

from plimsoll.errors import InputError
from plimsoll.record.index.find import read_index
from plimsoll.web.pages.trend_page import TrendForm, release_tags, trend_page
from tests.unit.record.index.run_dirs import (
    EXPERIMENT,
    RESULT,
    finished,
    make_run,
    single_trial,
    started,
)
from tests.unit.report.many_runs import released_runs
from tests.worded.says import Says, passage


def form_of(address: str) -> TrendForm:
    return TrendForm.of(QueryParams(address))


def test_releases_by_a_tag_show_the_change_and_what_changed_with_it(
    tmp_path: Path, says: Says
) -> None:
    released_runs(tmp_path)
    form = form_of("by=release&order=name")
    page = trend_page(form.taken(read_index(tmp_path)), form, {})
    assert page.first_figure == "load line"
    assert passage(page.sentences[0], "load", "worse", "-2") == says()
    assert "from 4.17 on" in page.sentences[0]
    changed = next(line for line in page.changes.records() if line["figure"] == "load line")
    # Three runs of each release: the first of the tenth is the twenty-eighth.
    assert [changed[name] for name in ("release", "outcome", "first_run")] == [
        "4.17",
        "worse",
        "run-27",
    ]
    assert [at.release for at in page.facts] == ["4.17"]
    assert "experiment.lab.kind" in [change["fact"] for change in page.facts[0].changes.records()]
    assert page.figures[0].chart is not None


@pytest.mark.slow
def test_runs_without_the_tag_and_of_several_experiments_are_said(tmp_path: Path) -> None:
    released_runs(tmp_path)
    other = EXPERIMENT.replace("name: demo", "name: other")
    make_run(tmp_path, "untagged", experiment=other, events=[started(), finished()], result=RESULT)
    form = form_of("by=release")
    assert trend_page(form.taken(read_index(tmp_path)), form, {}).notes == (
        "1 run without a value of release left out.",
    )
    each = form_of("")
    (note,) = trend_page(each.taken(read_index(tmp_path)), each, {}).notes
    assert note == "Runs of demo, other: the name chooses among them."


def test_the_filter_and_the_commonest_method_choose_the_runs(tmp_path: Path) -> None:
    released_runs(tmp_path)
    trial = [started(method="trial"), single_trial()]
    make_run(tmp_path, "tried", experiment=EXPERIMENT, events=trial, result=None)
    make_run(tmp_path, "stopped", experiment=EXPERIMENT, events=[started()])
    entries = list(read_index(tmp_path))
    assert len(form_of("").taken(entries)) == 36
    assert len(form_of("tag=release%3D4.8").taken(entries)) == 3
    assert [run.run_id for run in form_of("method=trial").taken(entries)] == ["tried"]
    assert form_of("name=nosuch").taken(entries) == []


def test_what_can_be_no_release_is_refused_with_its_place(tmp_path: Path) -> None:
    released_runs(tmp_path)
    form = form_of("by=%20a%20b")
    with pytest.raises(InputError) as refused:
        trend_page(form.taken(read_index(tmp_path)), form, {})
    assert refused.value.where == "by"


def test_tags_with_two_values_can_name_releases(tmp_path: Path) -> None:
    released_runs(tmp_path)
    assert release_tags(read_index(tmp_path)) == ["kernel", "release"]
