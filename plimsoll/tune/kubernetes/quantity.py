"""Amounts as Kubernetes writes them, of which many mean the same: 4, 4000m; 1Gi, 1024Mi."""

from __future__ import annotations

import re
from fractions import Fraction

# k8s.io/apimachinery, pkg/api/resource: the grammar of Quantity.
_QUANTITY = re.compile(
    r"([+-]?\d{1,30}(?:\.\d{0,30})?)(?:([eE][+-]?\d{1,2})|([a-zA-Z]{0,2}))", re.ASCII
)
_SCALES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    **{suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Fraction(1024**power) for power, suffix in enumerate("KMGTPE", 1)},
}


def parse_quantity(given: object) -> Fraction:
    """The amount, exactly. Raises ValueError for what is none."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        # YAML's bare 4 and 0.5.
        given = str(given)
    match = _QUANTITY.fullmatch(given) if isinstance(given, str) else None
    if match is None or (match[3] or "") not in _SCALES:
        raise ValueError(f"{str(given)[:40]!r} is not a quantity")
    number = Fraction(match[1].rstrip(".") + (match[2] or ""))
    return number * _SCALES[match[3] or ""]
