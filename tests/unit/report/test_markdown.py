"""The report in a pull request, read by markdown-it."""

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from plimsoll.analysis.comparison.gate import GateResult
from plimsoll.methods.load_line.page import run_page as load_line_page
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.markdown import render_markdown
from plimsoll.report.parts.run_head import load_head

HOSTILE = "x|y`<img src=x onerror=alert(1)>`\n\n# @team **[a](b)**"
PARSER = MarkdownIt("commonmark").enable("table")


def rows_of(markdown: str) -> list[list[list[str]]]:
    """Each table: its rows, each with its cells' text."""
    tables: list[list[list[str]]] = []
    for token in PARSER.parse(markdown):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and token.level > 3:
            text = "".join(child.content for child in token.children or [])
            tables[-1][-1].append(text.replace("\u2060", ""))
    return tables


def test_the_answer_comes_first(finished_run: RunDirectory) -> None:
    text = render_markdown(load_head(finished_run), load_line_page(finished_run))
    assert text.startswith("### ✅ Load line: 2.742 Mpps per direction\n\n**demo** · validated for")
    criteria, trials, facts = rows_of(text)
    assert criteria[0] == ["", "Criterion", "Of", "Measured", "Limit"]
    assert next(r for r in criteria if "p99" in r[1])[:3] == ["✅", "Latency, p99", "probe/0-1"]
    assert len(trials) == 15
    assert [row[0] for row in trials[1:]] == [str(number) for number in range(1, 15)]
    assert ["Run", finished_run.run_id] in facts


def test_hostile_names_and_messages_stay_text(finished_run: RunDirectory) -> None:
    head = replace(load_head(finished_run), name=HOSTILE, run_id=HOSTILE)
    page = load_line_page(finished_run)
    criteria = tuple(replace(each, subject=HOSTILE) for each in page.headline.criteria)
    page = replace(page, headline=replace(page.headline, criteria=criteria, limit=(HOSTILE,)))
    text = render_markdown(head, page, [GateResult(HOSTILE, "fail", HOSTILE)])
    tokens = [each for token in PARSER.parse(text) for each in (token, *(token.children or []))]
    kinds = {token.type for token in tokens}
    assert not kinds & {"html_inline", "link_open", "image", "em_open", "code_inline"}
    html = {token.content.strip() for token in tokens if token.type == "html_block"}
    assert html == {
        "<details><summary>14 trials</summary>",
        "<details><summary>Run and host</summary>",
        "</details>",
    }
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h3"]
    gates, found, *_ = rows_of(text)
    shown = HOSTILE.replace("\n", "\\n")
    assert gates[1] == ["❌", shown, shown]
    assert {len(row) for row in found} == {5}
    assert {row[2] for row in found[1:]} == {shown}


@pytest.mark.slow
def test_a_damaged_record_is_said_at_once(finished_run: RunDirectory) -> None:
    head = replace(load_head(finished_run), damage=("spikes.parquet: has 3 bytes",))
    text = render_markdown(head, load_line_page(finished_run))
    assert "**Damaged record: do not rely on what comes from it.**\n\n- spikes.parquet: has" in text
