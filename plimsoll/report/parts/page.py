"""A page of the report: one self-contained file that a browser opens without a network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import vl_convert
from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup

from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.palette import DARK, LIGHT
from plimsoll.report.parts.run_head import RunHead
from plimsoll.text.plain_text import without_controls
from plimsoll.version import VERSION


@dataclass(frozen=True, slots=True)
class Page:
    """What one kind of run shows.

    `template` extends base.html.j2 and fills its block `content` from `content` and
    `figures`; `heading` is the answer in a few words, for the browser's tab.
    """

    template: str
    heading: str
    figures: tuple[Figure, ...]
    content: Mapping[str, object]


def render_page(head: RunHead, page: Page) -> str:
    """The whole page. It may load nothing and evaluate nothing: its policy forbids both."""
    specifications = {figure.name: figure.specification() for figure in page.figures}
    scripts = (_chart_library(), _packaged("draw.js"))
    return (
        _templates()
        .get_template(page.template)
        .render(
            page.content,
            head=head,
            heading=page.heading,
            figures=page.figures,
            version=VERSION,
            style=Markup(_packaged("report.css")),  # noqa: S704
            scripts=[Markup(script) for script in scripts],  # noqa: S704
            policy=_policy(scripts),
            drawings=_inert({"charts": specifications, "light": LIGHT, "dark": DARK}),
        )
    )


def _shown(value: object) -> object:
    """Text of a run may be anybody's, and a page may be printed on a terminal."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return without_controls(value)
    return value


@cache
def _templates() -> Templates:
    """One environment, which keeps what it has compiled."""
    return Templates(
        loader=PackageLoader("plimsoll.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
    )


@cache
def _chart_library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, as vl-convert carries them."""
    library: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return library


def _packaged(name: str) -> str:
    return (files("plimsoll.report") / "templates" / name).read_text(encoding="utf-8")


def _policy(scripts: tuple[str, ...]) -> str:
    """A content security policy: these scripts and no others, and no request to anywhere."""
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{value}'" for value in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    )


def _inert(value: object) -> Markup:
    """JSON that no HTML parser takes for markup, whatever names a profile gives its streams."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704
