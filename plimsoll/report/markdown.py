"""A run's report as GitHub-flavoured Markdown for a pull request: the answer first, and short."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from plimsoll.analysis.comparison.gate import GateResult
from plimsoll.report.figures.table import ReportTable
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.run_head import RunHead
from plimsoll.text.counted import counted
from plimsoll.text.plain_text import plain_text

_MARKS = {"pass": "✅", "ok": "✅", "fail": "❌", "invalid": "⚠️", "unknown": "⚠️"}
_MAX_CHARACTERS = 300
_MAX_TRIALS = 50
_TRIAL_COLUMNS = ("trial", "phase", "load_pps", "sending_s", "verdict", "loss_ratio", "p99_ns")
_SHOWN_FACTS = ("Host", "Kernel", "CPU", "CPUs isolated", "Version of plimsoll", "Version of DPDK")
_MARKUP = re.compile(r"([\\`*_\[\]<|~&$])")
_FOUND_LATER = re.compile(r"[@#](?=\w)|:(?=[a-z+/])|(?<=www)\.", re.IGNORECASE)
_ORDERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
# A heading, a list, a rule and a quotation, where it stands first.
_BLOCKS = ("#", "+", "-", "=", ">")
_WORD_JOINER = "&#8288;"


def render_markdown(head: RunHead, page: Page, gates: Sequence[GateResult] = ()) -> str:
    """The text, without anything that a name or a message of the run could do to a page."""
    blocks = [
        *_answer(head, page.headline),
        *_gates(gates),
        *_criteria(page.criteria),
        *_trials(page),
        *_environment(head),
    ]
    return "\n\n".join(blocks) + "\n"


def _answer(head: RunHead, headline: Headline) -> Iterator[str]:
    mark = _MARKS.get(headline.outcome, "")
    title = headline.in_words if headline.value else headline.statement or headline.kicker
    yield " ".join(part for part in ("###", mark, _text(title)) if part)
    if head.damage:
        yield "**Damaged record: do not rely on what comes from it.**"
        yield "\n".join(f"- {_text(each)}" for each in head.damage)
    if head.simulated:
        yield f"**Simulated by the model {_text(head.simulated)}: no frame was sent.**"
    yield from (f"**{_text(each)}**" for each in headline.warnings)
    facts = [f"{_text(value)} {_text(name)}" for value, name in headline.facts]
    if headline.outcome_words not in ("", headline.outcome):
        facts.insert(0, _text(headline.outcome_words))
    yield " · ".join((f"**{_text(head.name)}**", *facts))
    sentences = [_text(each) for each in (*headline.limit, *headline.trust)]
    if sentences:
        yield " ".join(sentences)


def _gates(gates: Sequence[GateResult]) -> Iterator[str]:
    rows = [(_MARKS[each.outcome], _text(each.name), _text(each.text)) for each in gates]
    if rows:
        yield _table(("", "Gate", "Found"), rows)


def _criteria(criteria: ReportTable) -> Iterator[str]:
    if criteria.rows:
        heads, rows = criteria.words("rule", "subject", "measured", "limit")
        marks = (_MARKS.get(str(each["outcome"]), "") for each in criteria.records())
        marked = ((mark, *map(_text, row)) for mark, row in zip(marks, rows, strict=True))
        yield _table(("", *heads), marked)


def _trials(page: Page) -> Iterator[str]:
    if page.trials is None or not page.trials.rows:
        return
    heads, rows = page.trials.words(*_TRIAL_COLUMNS)
    shown = [_trial(row) for row in rows[-_MAX_TRIALS:]]
    last = "" if len(shown) == len(rows) else f"The last {len(shown)} of "
    yield _folded(f"{last}{counted(len(rows), 'trial')}", _table(heads, shown))


def _trial(row: Sequence[str]) -> tuple[str, ...]:
    """With the sign of its verdict."""
    verdict = _TRIAL_COLUMNS.index("verdict")
    cells = [*map(_text, row)]
    cells[verdict] = f"{_MARKS.get(row[verdict], '')} {cells[verdict]}".strip()
    return tuple(cells)


def _environment(head: RunHead) -> Iterator[str]:
    facts = dict(head.environment_lines)
    rows = [(name, _text(facts[name])) for name in _SHOWN_FACTS if name in facts]
    rows.insert(0, ("Run", _text(head.run_id)))
    if head.began_text:
        rows.insert(1, ("Began", _text(head.began_text)))
    yield _folded("Run and host", _table(("", ""), rows))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _folded(title: str, content: str) -> str:
    # GitHub reads Markdown within HTML only after an empty line.
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>"


def _text(text: str) -> str:
    return markdown_text(text, _MAX_CHARACTERS)


# Text of anybody's for a page of GitHub-flavoured Markdown: it is shown, and does nothing.
#
# A backslash takes a character its meaning in Markdown. What GitHub finds in the finished text
# (mentions, references to issues, links without markup, emoji) knows no backslash: an invisible
# word joiner breaks it up.
def markdown_text(text: str, most: int | None = None) -> str:
    """`text` on one line, cut to `most` characters, without any meaning in Markdown."""
    shown = _MARKUP.sub(r"\\\1", plain_text(text.strip(), most))
    shown = _FOUND_LATER.sub(rf"\g<0>{_WORD_JOINER}", shown)
    if shown[:1] in _BLOCKS:
        return f"\\{shown}"
    return _ORDERED.sub(r"\1\\\2", shown, count=1) if _ORDERED.match(shown) else shown
