"""Which difference counts as none: what the search that found the figures can resolve."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.text.given_path import read_regular_file
from plimsoll.text.units import parse_ratio

# Of runs without a search of that kind.
SAME_WITHIN = 0.01
_MOST_EXPERIMENT_MIB = 64


def same_within(experiments: Iterable[Path]) -> float:
    """The greatest `search.width` of these experiments, as a share; 1 % for one without it.

    Raises InputError for an experiment that cannot be read.
    """
    return max(map(_width, experiments), default=SAME_WITHIN)


def _width(experiment: Path) -> float:
    if not experiment.exists():
        return SAME_WITHIN
    text = read_regular_file(experiment, _MOST_EXPERIMENT_MIB, "restore it from a copy of the run")
    found: Any = load_yaml(text.decode())
    search = found.get("search") if isinstance(found, dict) else None
    width = search.get("width") if isinstance(search, dict) else None
    return SAME_WITHIN if width is None else parse_ratio(width)
