"""The page of a matrix, from its run directory."""

from pathlib import Path

from plimsoll.record.journal import Journal
from plimsoll.record.matrix_result import IterationResult, MatrixResult, SampleResult
from plimsoll.record.run_directory import RunDirectory
from plimsoll.report import export_charts, write_report

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
    MatrixResult(
        run_id=run.run_id,
        name="sizes",
        order="sample",
        seed=0,
        iterations=(
            IterationResult.of(1, {SIZE: 64, "x.y": True}, [_sample(1, 9e5), _sample(2, 11e5)]),
            IterationResult.of(2, {SIZE: 512, "x.y": True}, [_sample(1, None, "<b>died</b>")]),
        ),
        versions={},
    ).write(run.result)
    text = write_report(run).read_text()
    assert '<a href="iteration-0001/sample-2/report.html">2</a>' in text
    assert "<td>64</td>" in text
    assert "1 Mpps" in text
    assert "20 %" in text
    assert "<dt>x.y</dt><dd>true</dd>" in text
    # An error is text, whatever it holds, and has no report.
    assert "&lt;b&gt;died&lt;/b&gt;" in text
    assert text.count("report.html") == 2
    assert export_charts(run) == []


def test_a_matrix_that_goes_on_has_a_page(tmp_path: Path) -> None:
    text = write_report(_run(tmp_path)).read_text()
    assert "has not come to its result" in text
