"""The page of a matrix, from its run directory."""

from pathlib import Path

import pytest

from plimsoll.methods.matrix.page import run_page as matrix_page
from plimsoll.methods.matrix.result import IterationResult, MatrixResult, SampleResult
from plimsoll.record.run.journal import Journal
from plimsoll.record.run.result_file import finish_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_files, write_report
from plimsoll.search.strategy.goal_end import LimitedBy
from tests.unit.benchmark.audits import audit_of, finding
from tests.unit.report.reader import Page
from tests.unit.report.sample_run import write_sample_run
from tests.unit.trial.host_record import HOSTNAME
from tests.worded.says import Says

SIZE = "profile.streams[load].frame_size"


def _run(folder: Path) -> RunDirectory:
    run = RunDirectory.create(folder, "sizes", {"name": "sizes"})
    with Journal(run.journal) as journal:
        journal.append("run-started", method="matrix")
    return run


def _sample(number: int, pps: float | None, error: str | None = None) -> SampleResult:
    return SampleResult(
        number=number,
        directory=f"iteration-0001/sample-{number}",
        load_line_pps=pps,
        limited_by=None,
        reason=None,
        error=error,
    )


def test_rows_link_to_the_samples_own_reports(tmp_path: Path) -> None:
    run = _run(tmp_path)
    result = MatrixResult(
        run_id=run.run_id,
        name="sizes",
        order="sample",
        seed=0,
        iterations=(
            IterationResult.of(1, {SIZE: 64, "x.y": True}, [_sample(1, 9e5), _sample(2, 11e5)]),
            IterationResult.of(2, {SIZE: 512, "x.y": True}, [_sample(1, None, "<b>died</b>")]),
        ),
        versions={},
    )
    with Journal(run.journal) as journal:
        finish_run(run, journal, result)
    text = write_report(run).read_text()
    assert '<a href="iteration-0001/sample-2/report.html">2</a>' in text
    assert "<td>64</td>" in text
    assert "1 Mpps" in text
    assert "20 %" in text
    assert "<dt>x.y</dt><dd>true</dd>" in text
    # An error is text, whatever it holds, and has no report.
    assert "&lt;b&gt;died&lt;/b&gt;" in text
    assert text.count("report.html") == 2
    assert write_files(run, charts=True, tables=False)[1:] == []


@pytest.mark.parametrize(("failed", "said"), [(0, "1 the same"), (2, "1 cannot tell")])
def test_samples_that_carried_nothing_are_not_left_out(
    tmp_path: Path, failed: int, said: str
) -> None:
    run = _run(tmp_path)
    # Four and four are the fewest for an interval.
    found = [_sample(number, 1e6) for number in range(1, 5)]
    dead = _sample(5, None).model_copy(update={"verdict": "fail"})
    result = MatrixResult(
        run_id=run.run_id,
        name="sizes",
        order="sample",
        seed=0,
        iterations=(
            IterationResult.of(1, {SIZE: 64}, found),
            IterationResult.of(2, {SIZE: 512}, [*found, *[dead] * failed]),
        ),
        versions={},
    )
    experiment = run.path / found[0].directory / "experiment.yaml"
    experiment.parent.mkdir(parents=True)
    experiment.write_text("search: {width: 1%}\n")
    with Journal(run.journal) as journal:
        finish_run(run, journal, result)
    assert said in " ".join(matrix_page(run).headline.limit)


@pytest.mark.slow
def test_each_samples_tuning_is_counted_and_linked(tmp_path: Path) -> None:
    run = _run(tmp_path)
    sample = write_sample_run(run.path / "iteration-0001")
    audit_of(HOSTNAME, finding(26, "fail"), finding(33, "warn"), finding(21, "ok")).write(
        sample.audit
    )
    damaged = RunDirectory.within(run.path / "iteration-0001/sample-2", {})
    damaged.audit.write_text("{")
    found = _sample(1, 9e5).model_copy(update={"directory": f"iteration-0001/{sample.run_id}"})
    samples = [found, _sample(2, 9e5), _sample(3, None, "died")]
    result = MatrixResult(
        run_id=run.run_id,
        name="sizes",
        order="sample",
        seed=0,
        iterations=(IterationResult.of(1, {SIZE: 64}, samples),),
        versions={},
    )
    with Journal(run.journal) as journal:
        finish_run(run, journal, result)
    html = write_report(run).read_text()
    assert f'<a href="iteration-0001/{sample.run_id}/report.html#tuning">{HOSTNAME}</a>' in html
    text = Page(html).text
    assert "1 fail · 1 warn · 1 ok" in text
    # The sample's own page says the same.
    assert "1 fail · 1 warn · 1 ok" in Page(write_report(sample).read_text()).text
    # A record that is damaged is reported, and spoils no other; a sample that failed has no page.
    assert "sample-2/audit.json" in text.partition("Tuning")[2]
    assert "sample-3" not in html


def test_a_matrix_without_audits_has_no_word_of_them(tmp_path: Path) -> None:
    assert "Tuning" not in write_report(_run(tmp_path)).read_text()


def test_a_matrix_that_goes_on_has_a_page(tmp_path: Path) -> None:
    text = write_report(_run(tmp_path)).read_text()
    assert "has not finished" in text


def test_combinations_are_held_against_the_first(tmp_path: Path, says: Says) -> None:
    """Four samples each: alike, 20 % lower, and one whose maximum was the search's."""
    run = _run(tmp_path)
    loads = (1.000e6, 1.001e6, 1.002e6, 1.003e6)

    def samples(factor: float, limited_by: LimitedBy = "dut") -> list[SampleResult]:
        found = [_sample(n, pps * factor) for n, pps in enumerate(loads, 1)]
        return [each.model_copy(update={"limited_by": limited_by}) for each in found]

    combinations = (samples(1.0), samples(1.001), samples(0.8), samples(0.8, "maximum"))
    result = MatrixResult(
        run_id=run.run_id,
        name="sizes",
        order="sample",
        seed=0,
        iterations=tuple(
            IterationResult.of(n, {SIZE: 64 * n}, each) for n, each in enumerate(combinations, 1)
        ),
        versions={},
    )
    with Journal(run.journal) as journal:
        finish_run(run, journal, result)
    assert matrix_page(run).headline.limit == (says("3", "0", "1", "1 %", "search.maximum"),)
