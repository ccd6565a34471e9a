"""PNG and SVG of each chart, from the same specification as the page's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import vl_convert

from plimsoll.record.files.record_error import write_failed
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.palette import PRINT
from plimsoll.report.parts.run_head import load_head
from plimsoll.report.registry import make_page

WIDTH = 900
# Twice the size on screen: sharp on paper and on dense displays.
_PNG_SCALE = 2.0


def export_charts(run: RunDirectory) -> list[Path]:
    """Write `<run>/charts/<name>.svg` and `.png` of each chart that has something to show.

    Raises RecordError when the run cannot be read or the files not be written.
    """
    paths: list[Path] = []
    for figure in make_page(run, load_head(run)).figures:
        specification = figure.specification()
        if specification is not None:
            paths += _export(_on_paper(specification, figure.title), run.charts / figure.name)
    return paths


def _on_paper(specification: dict[str, Any], title: str) -> dict[str, Any]:
    heading = {"text": title, "anchor": "start", "fontSize": 15, "offset": 12}
    return {**specification, "width": WIDTH, "title": heading, "config": PRINT}


def _export(specification: dict[str, Any], stem: Path) -> list[Path]:
    svg = vl_convert.vegalite_to_svg(specification)
    png = vl_convert.vegalite_to_png(specification, scale=_PNG_SCALE)
    return [
        _write(stem.with_suffix(".svg"), lambda path: path.write_text(svg, encoding="utf-8")),
        _write(stem.with_suffix(".png"), lambda path: path.write_bytes(png)),
    ]


def _write(path: Path, write: Callable[[Path], int]) -> Path:
    try:
        path.parent.mkdir(exist_ok=True)
        write(path)
    except OSError as error:
        raise write_failed(path, error) from error
    return path
