"""The result of a matrix as a table: a row an iteration, a column a parameter."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from plimsoll.record.matrix_result import IterationResult, MatrixResult
from plimsoll.traffic.units import format_pps, format_ratio


def matrix_table(result: MatrixResult) -> Table:
    """Mean, least and greatest load line of each iteration's samples, and what went wrong.

    What has the same value in every iteration stands below the table.
    """
    paths = list(dict.fromkeys(path for each in result.iterations for path in each.params))
    values = {path: [_value(each, path) for each in result.iterations] for path in paths}
    varied = [path for path in paths if len(set(values[path])) > 1]
    # As Text: what is in brackets is no markup.
    common = ", ".join(f"{path} = {values[path][0]}" for path in paths if path not in varied)
    table = Table(
        title=Text(f"{result.name}: load lines per direction"),
        title_justify="left",
        caption=Text(f"in all: {common}") if common else None,
        caption_justify="left",
    )
    table.add_column("#", justify="right")
    for name in column_names(varied):
        table.add_column(Text(name))
    for name in ("mean", "least", "most", "spread"):
        table.add_column(name, justify="right")
    table.add_column("samples")
    for row, iteration in enumerate(result.iterations):
        own = (Text(values[path][row]) for path in varied)
        table.add_row(str(iteration.number), *own, *_figures(iteration), _samples(iteration))
    return table


def _value(iteration: IterationResult, path: str) -> str:
    """For people; empty where the iteration does not set it."""
    value = iteration.params.get(path, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def column_names(paths: Iterable[str]) -> list[str]:
    """The last field of each path, or all of the path where that does not tell them apart."""
    paths = list(paths)
    short = [path.rsplit(".", 1)[-1] for path in paths]
    times = Counter(short)
    return [name if times[name] == 1 else path for name, path in zip(short, paths, strict=True)]


def _figures(iteration: IterationResult) -> tuple[str, str, str, str]:
    line = iteration.load_line
    if line is None:
        return ("none", "", "", "")
    return (
        format_pps(line.mean_pps),
        format_pps(line.min_pps),
        format_pps(line.max_pps),
        format_ratio(line.relative),
    )


def _samples(iteration: IterationResult) -> Text:
    """How many of them found a load line, and why the others did not."""
    found = sum(each.load_line_pps is not None for each in iteration.samples)
    lacking = [each for each in iteration.samples if each.load_line_pps is None]
    reasons = dict.fromkeys(each.error or each.reason or "" for each in lacking)
    told = "".join(f"; {reason}" for reason in reasons)
    return Text(f"{found} of {len(iteration.samples)}{told}")
