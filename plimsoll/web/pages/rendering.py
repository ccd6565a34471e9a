"""Pages of the application from their templates."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from jinja2 import ChoiceLoader, PackageLoader, PrefixLoader, StrictUndefined
from jinja2 import Environment as Templates

from plimsoll.report.figures.figure import Figure
from plimsoll.report.parts.page import drawings, harmless
from plimsoll.version import VERSION

# The page's policy lets no script add styles: ours are in app.css.
_CHART_OPTIONS = {
    "defaultStyle": False,
    "forceActionsMenu": True,
    "tooltip": {"disableDefaultStyle": True},
}


def render(template: str, content: Mapping[str, object], figures: Sequence[Figure] = ()) -> str:
    """A page. Its `figures` are drawn by the report's script, each where its name stands."""
    return (
        _templates()
        .get_template(template)
        .render(
            content,
            version=VERSION,
            charts={figure.name: figure for figure in figures},
            drawings=drawings(figures, _CHART_OPTIONS) if figures else None,
        )
    )


def asset_version(content: bytes) -> str:
    """A short name for this content: an address that has it may be kept for ever."""
    return hashlib.sha256(content).hexdigest()[:12]


@cache
def _templates() -> Templates:
    templates = Templates(
        loader=ChoiceLoader(
            [
                PackageLoader("plimsoll.web.pages"),
                PrefixLoader({"report": PackageLoader("plimsoll.report")}),
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["asset"] = _asset_address
    return templates


@cache
def _asset_address(name: str) -> str:
    content = files("plimsoll.web").joinpath("static", name)
    version = asset_version(content.read_bytes()) if content.is_file() else VERSION
    return f"/assets/{name}?v={version}"
