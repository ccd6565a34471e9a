"""The tables of a page as files."""

import csv
from pathlib import Path

from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import export_tables, write_report
from plimsoll.report.page_files import page_tables

PAGE = """
<section id="losses"><h2>Losses</h2>
<div role="region" aria-label="Table"><table>
<thead><tr><th>When</th><th>Frames</th></tr></thead>
<tbody><tr><td>1 s</td><td><span class="mark">5&nbsp;&lt; 6</span></td></tr></tbody>
</table></div>
<details><summary>The 7 worst</summary>
<div role="region" aria-label="Table"><table><tr><td>-</td></tr></table></div></details>
<div role="region" aria-label="Checks"><table>
<tr><td>1</td><td>ok</td></tr>
<tr><td colspan="1"></td>
<td colspan="1"><details><summary>Why</summary><p>So.</p></details></td></tr>
</table></div>
</section>
<details id="trial-3"><summary>Trial 3</summary>
<div role="region" aria-label="Streams of trial 3"><table><caption>not a name</caption>
<tr><td>=1+1</td></tr></table></div></details>
"""


def test_names_say_where_a_table_stands_and_have_no_figures_in_them() -> None:
    names = [table.name for table in page_tables(PAGE)]
    assert names == ["losses", "losses-2", "losses-checks", "trial-3-not-a-name"]


def test_cells_are_what_the_page_shows() -> None:
    losses, _, checks, _ = page_tables(PAGE)
    assert losses.rows == (("When", "Frames"), ("1 s", "5 < 6"))
    assert checks.rows == (("1", "ok", "Why So."),)


def test_every_table_of_a_report_is_a_file(finished_run: RunDirectory) -> None:
    page = write_report(finished_run).read_text()
    paths = export_tables(finished_run)
    assert len(paths) == len(set(paths)) == page.count("<table")
    with (finished_run.path / "tables/trials-all-trials.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["Trial", "Phase", "Intended per direction"]
    assert [row[5] for row in rows[1:]].count("invalid") == 2
    # A dash of the page is nothing.
    assert rows[1][5:7] == ["none", "0 %"]
    assert rows[1][8] == ""


def test_a_cell_that_a_spreadsheet_would_compute_is_text(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.report.write_text(PAGE)
    export_tables(run)
    assert (tmp_path / "tables/trial-3-not-a-name.csv").read_text() == "'=1+1\n"
    assert (tmp_path / "tables/losses-2.csv").read_text() == '""\n'
