"""The names that CDM gives breakout dimensions; its indices refuse documents with any other.

names.txt lists those of CommonDataModel's v8 index of metric_desc that are keywords (cdm.js,
August 2026); `num` is a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.resources import files

NUMBER = "num"
# Where what cannot be said otherwise goes, as name=value.
_ANYTHING = "id"
KEYWORDS = frozenset(
    (files("plimsoll.export.cdm") / "names.txt").read_text(encoding="utf-8").split()
)
# What Plimsoll calls otherwise.
_CLOSEST = {"lcore": "cpu", "kind": "type", "state": "mode", "name": "counter"}


def cdm_names(names: Mapping[str, str]) -> dict[str, str]:
    """The same dimensions under CDM's names, by name; no two different ones become the same."""
    found = {name: value for name, value in names.items() if _fits(name, value)}
    left = {name: value for name, value in names.items() if name not in found}
    for name in sorted(left):
        closest = _CLOSEST.get(name)
        if closest is not None and closest not in names:
            found[closest] = left.pop(name)
    if left:
        said = [f"{name}={value}" for name, value in sorted(left.items())]
        found[_ANYTHING] = ",".join([*filter(None, [found.get(_ANYTHING)]), *said])
    return dict(sorted(found.items()))


def _fits(name: str, value: str) -> bool:
    return name in KEYWORDS or (name == NUMBER and _is_number(value))


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False
