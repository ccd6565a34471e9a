from pathlib import Path
from xml.etree import ElementTree

import pytest

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_files
from plimsoll.report.charts import charts
from plimsoll.report.data.run_data import RunData

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
def test_each_chart_is_written_as_svg_and_png(
    finished_run: RunDirectory, finished: RunData
) -> None:
    paths = write_files(finished_run, charts=True, tables=False)[1:]
    drawn = {figure.name for each in charts() if (figure := each.draw(finished)).chart}
    assert drawn >= {"search-path", "rx-rate", "latency-over-time", "stalls"}
    # No frame was lost.
    assert "lost-frames" not in drawn
    assert sorted(path.name for path in paths) == sorted(
        f"{name}.{form}" for name in drawn for form in ("svg", "png")
    )
    assert {path.parent for path in paths} == {finished_run.charts}
    for path in paths:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(PNG)
        else:
            assert ElementTree.parse(path).getroot().tag.endswith("svg")  # noqa: S314


def test_a_run_without_trials_has_no_charts(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    assert write_files(run, charts=True, tables=False)[1:] == []
    assert not run.charts.exists()


def test_a_place_that_cannot_be_written_is_named(finished_run: RunDirectory) -> None:
    other = finished_run.charts.with_name("charts-as-file")
    run = RunDirectory(finished_run.path)
    if run.charts.exists():
        run.charts.rename(other)
    run.charts.write_text("a file")
    try:
        with pytest.raises(RecordError, match="cannot record"):
            write_files(run, charts=True, tables=False)
    finally:
        run.charts.unlink()
