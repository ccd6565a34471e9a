"""A page of the report: one self-contained file that a browser opens without a network."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup

from plimsoll.report.figures.figure import Figure
from plimsoll.report.parts.chart_drawing import chart_library, drawings, harmless, packaged
from plimsoll.report.parts.finding_lines import rule_words
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.run_head import RunHead
from plimsoll.report.parts.runs_head import RunsHead
from plimsoll.report.parts.tables import TrialLine
from plimsoll.report.parts.trial_details import STREAM_COLUMNS, TrialDetail
from plimsoll.version import VERSION


@dataclass(frozen=True, slots=True)
class Page:
    """What one kind of run shows, or what many runs do.

    `template` extends base.html.j2 and fills its blocks, whose order is the same on all pages,
    from `content` and `figures`. `contents` are the anchors and titles of these blocks.
    `key_figures` names up to three of the figures that stand in the first screen. `trials` is
    the table of all trials, `details` what each unfolds to, `marked` the number of the one that
    proves the answer.
    """

    template: str
    headline: Headline
    contents: tuple[tuple[str, str], ...]
    figures: tuple[Figure, ...]
    content: Mapping[str, object]
    key_figures: tuple[str, ...] = ()
    trials: tuple[TrialLine, ...] = ()
    details: tuple[TrialDetail, ...] = ()
    marked: int | None = None

    @property
    def drawn(self) -> tuple[Figure, ...]:
        """All figures, those of each trial too."""
        return (*self.figures, *(each for detail in self.details for each in detail.figures))


def render_page(head: RunHead | RunsHead, page: Page) -> str:
    """The whole page. It may load nothing and evaluate nothing: its policy forbids both."""
    library, drawing = chart_library(), packaged("draw.js")
    return (
        _templates()
        .get_template(page.template)
        .render(
            page.content,
            head=head,
            page=page,
            figures={figure.name: figure for figure in page.figures},
            stream_columns=STREAM_COLUMNS,
            version=VERSION,
            style=Markup(packaged("report.css")),  # noqa: S704
            library=Markup(_compressed(library)),  # noqa: S704
            drawing=Markup(drawing),  # noqa: S704
            policy=_policy((library, drawing)),
            drawings=drawings(page.drawn),
        )
    )


@cache
def _templates() -> Templates:
    """One environment, which keeps what it has compiled."""
    templates = Templates(
        loader=PackageLoader("plimsoll.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
    )
    templates.filters["rule_words"] = rule_words
    return templates


@cache
def _compressed(script: str) -> str:
    """A third of its size, for a page to unpack (DecompressionStream, in browsers since 2023)."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()


def _policy(scripts: tuple[str, ...]) -> str:
    """A content security policy: these scripts and no others, and no request to anywhere."""
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{value}'" for value in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    )
