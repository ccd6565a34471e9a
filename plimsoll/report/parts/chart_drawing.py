"""What pages share: style sheets and scripts, charts as inert JSON, and text made harmless."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files

from markupsafe import Markup

from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.palette import DARK, LIGHT
from plimsoll.text.plain_text import without_controls


def packaged(name: str) -> str:
    """The text of a style sheet or script of the report's, such as draw.js."""
    return (files("plimsoll.report") / "templates" / name).read_text(encoding="utf-8")


def drawings(figures: Iterable[Figure], options: Mapping[str, object] | None = None) -> Markup:
    """The charts as draw.js reads them; `options` are vega-embed's, in addition to its own."""
    charts = {figure.name: figure.specification() for figure in figures}
    found = {"charts": charts, "light": LIGHT, "dark": DARK}
    return inert_json(found if options is None else {**found, "options": options})


def harmless(value: object) -> object:
    """What a template puts in: text of a run may be anybody's, and end up on a terminal."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return without_controls(value)
    return value


def inert_json(value: object) -> Markup:
    """JSON that no HTML parser takes for markup, whatever names a profile gives its streams."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704
