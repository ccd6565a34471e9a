"""The report: one self-contained page that a browser opens without a network."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from pathlib import Path

import vl_convert
from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup

from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.whole_file import write_whole
from plimsoll.report.answer import answer
from plimsoll.report.calibrations import CALIBRATION_COLUMNS
from plimsoll.report.charts import CHARTS
from plimsoll.report.charts.palette import DARK, LIGHT
from plimsoll.report.evidence import evidence
from plimsoll.report.run_data import RunData, load_run
from plimsoll.report.streams import sharing_note, stream_lines
from plimsoll.report.tables import environment_lines, trial_lines
from plimsoll.report.times import GAP_COLUMNS, LATENCY_COLUMNS, LATENESS_COLUMNS
from plimsoll.version import VERSION


def write_report(run: RunDirectory) -> Path:
    """Write the run's report.html anew and return its path. Raises RecordError."""
    write_whole(run.report, render_page(load_run(run)))
    return run.report


def render_page(data: RunData) -> str:
    """The whole page. It may load nothing and evaluate nothing: its policy forbids both."""
    figures = [make(data) for make in CHARTS]
    specifications = {figure.name: figure.specification() for figure in figures}
    scripts = (_chart_library(), _packaged("draw.js"))
    templates = Templates(
        loader=PackageLoader("plimsoll.report"), autoescape=True, undefined=StrictUndefined
    )
    return templates.get_template("report.html.j2").render(
        data=data,
        answer=answer(data),
        evidence=evidence(data),
        figures=figures,
        trials=trial_lines(data),
        streams=stream_lines(data),
        sharing_note=sharing_note(data),
        latency_columns=LATENCY_COLUMNS,
        lateness_columns=LATENESS_COLUMNS,
        gap_columns=GAP_COLUMNS,
        calibration_columns=CALIBRATION_COLUMNS,
        environment=environment_lines(data.environment),
        began=_began(data),
        version=VERSION,
        style=Markup(_packaged("report.css")),  # noqa: S704
        scripts=[Markup(script) for script in scripts],  # noqa: S704
        policy=_policy(scripts),
        drawings=_inert({"charts": specifications, "light": LIGHT, "dark": DARK}),
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


def _began(data: RunData) -> str:
    return f"{data.began:%Y-%m-%d %H:%M} UTC" if data.began else ""
