"""The axes of a heat map of names: rows down, columns above, neither lines nor ticks."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

# Dark text on every cell, whose colours are pale on light and on dark paper.
CELL_INK = "#1c2127"
_LABEL_LIMIT = 170


def column_axis(field: str, names: Sequence[str], title: str | None = None) -> alt.X:
    """The columns, in this order, with their names above them."""
    return alt.X(
        f"{field}:N",
        title=title,
        sort=list(names),
        axis=alt.Axis(
            orient="top", labelLimit=_LABEL_LIMIT, labelAngle=0, domain=False, ticks=False
        ),
    )


def row_axis(field: str, names: Sequence[str], title: str | None = None) -> alt.Y:
    """The rows, in this order."""
    return alt.Y(
        f"{field}:N",
        title=title,
        sort=list(names),
        axis=alt.Axis(labelLimit=_LABEL_LIMIT, domain=False, ticks=False),
    )
