"""The page of a plugfest, from the runs of simulated DUTs."""

from pathlib import Path

import pytest

from plimsoll.methods.plugfest.grids import difference_words
from plimsoll.methods.plugfest.page import run_page as plugfest_page
from plimsoll.methods.plugfest.result import CellDifference
from plimsoll.record.results.conclusion import Conclusion
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_report
from tests.unit.methods.plugfest.plugfest_files import ABSENT, FAST, SLOW
from tests.unit.methods.plugfest.test_plugfest_run import begin, run_all
from tests.worded.says import Says


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """Two DUTs four times each, and one that this machine has not."""
    folder = tmp_path_factory.mktemp("fest")
    duts = {"fast": FAST, "slow": SLOW, "gone": ABSENT}
    run = begin(folder, {"duts": duts, "frame_sizes": [64, "simple"], "seed": 11})
    run_all(run)
    return run


def test_it_has_the_plugfests_tables(run: RunDirectory) -> None:
    page = plugfest_page(run)
    (part,) = page.content["settings"]  # type: ignore[misc]
    throughput, _, _, difference, _ = part.tables
    headings, (first, second) = throughput.words()
    assert headings == ("Flows", "Frames", "fast", "slow", "gone")
    # The search ends at its maximum: the DUTs may carry more.
    assert first == ("1 flow", "64 B", "≥ 20 kpps", "≥ 15 kpps", "refused")
    assert second[1] == "IMIX simple"
    assert [column.heading for column in difference.columns] == ["Flows", "Frames", "slow", "gone"]
    _, (_, _, slow, _) = next(difference.shown_rows)
    # A DUT that was offered no more than 15 kpps may carry as much as the other.
    assert (slow.text, slow.mark) == ("-25 % (-25 % to -25 %) cannot tell", "invalid")


@pytest.mark.parametrize(
    ("relative", "words"),
    [(10.7123, "+1,070 %"), (-0.5567, "-55.7 %"), (0.0537, "+5.37 %"), (2.0, "+200 %")],
)
def test_a_difference_is_a_share_of_three_digits(relative: float, words: str) -> None:
    found = CellDifference(
        axis="dut", cell=2, baseline=1, figure="p99", unit="ns", estimate=relative * 100,
        least=None, most=None, relative=relative, judgement="cannot tell",
        conclusion=Conclusion(
            kind="cannot tell", within=0.01, share=relative, least_share=None, most_share=None,
            needs="repetitions", repetitions=4,
        ),
    )  # fmt: skip
    assert difference_words(found) == words


def test_it_says_what_is_missing_how_it_was_ordered_and_leads_to_each_run(
    run: RunDirectory,
) -> None:
    text = write_report(run).read_text()
    assert "3 DUTs in 6 cells" in text
    assert "2 cells of 6 without a load line" in text
    assert (
        "Of 2 cells held against fast, in throughput 0 better, 0 worse, 0 the same within 0.5 %, "
        "2 cannot tell (the tester or search.maximum limits the load line" in text
    )
    assert "0000:ff:1f.6" in text
    assert "by the seed 11" in text
    assert "7 of 64, 4 of 594, 1 of 1518 bytes" in text
    for iteration in range(1, 5):
        for sample in range(1, 5):
            assert f'href="iteration-{iteration:04}/sample-{sample}/report.html"' in text


def test_trials_and_environment_are_on_the_pages_of_its_runs(run: RunDirectory) -> None:
    text = write_report(run).read_text()
    assert 'id="trials"' not in text
    assert 'href="#environment"' not in text
    assert "iteration-*/sample-*/" in text
    assert "histograms.hlog" not in text
    cell = write_report(RunDirectory(run.path / "iteration-0001" / "sample-1")).read_text()
    assert 'id="trials"' in cell
    assert "histograms.hlog" in cell


def test_every_figure_is_drawn_once_and_by_its_own_name(run: RunDirectory) -> None:
    page = plugfest_page(run)
    names = [figure.name for figure in page.figures]
    assert len(set(names)) == len(names)
    heat, difference, _ = page.figures
    values = heat.specification()["data"]["values"]  # type: ignore[index]
    by_text = {(each["row"], each["column"]): each["text"] for each in values}
    assert by_text["slow, 1 flow", "64 B"] == "≥ 15 kpps"
    assert by_text["gone, 1 flow", "64 B"] == "refused"
    off = difference.specification()["data"]["values"]  # type: ignore[index]
    assert {each["text"] for each in off} == {"? -25 %"}


def test_a_run_that_has_not_ended_has_a_page_of_what_there_is(tmp_path: Path, says: Says) -> None:
    run = begin(tmp_path, {"duts": {"fast": FAST}})
    page = plugfest_page(run)
    assert page.headline.outcome_words == "not ended"
    assert page.content["settings"] == ()
    (cell,) = page.content["lost"].records()  # type: ignore[attr-defined]
    assert cell["reason"] == says()
