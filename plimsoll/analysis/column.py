"""A column of a table: its name, and what its values are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

ColumnKind = Literal["text", "integer", "number", "boolean", "time", "names"]

# The columns of tables of metrics, which a name of a series may be called like.
_OF_THE_RECORD = {
    "run",
    "period",
    "source",
    "type",
    "class",
    "unit",
    "aggregation",
    "begin",
    "end",
    "monotonic_ms",
    "count",
    "value",
}
_PREFIX = "names."


@dataclass(frozen=True, slots=True)
class Column:
    """Values are str, int, float, bool, datetime (UTC), or a dict of names; or None."""

    name: str
    kind: ColumnKind

    def arrow_type(self, pyarrow: Any) -> Any:
        """Its type in Arrow; times are in microseconds, as datetime's are, in all tables."""
        types = {
            "text": pyarrow.string,
            "integer": pyarrow.int64,
            "number": pyarrow.float64,
            "boolean": pyarrow.bool_,
            "time": lambda: pyarrow.timestamp("us", tz="UTC"),
            "names": lambda: pyarrow.map_(pyarrow.string(), pyarrow.string()),
        }
        return types[self.kind]()


def name_column(name: str) -> str:
    """The column of a name: called like it, unless tables of metrics have one of their own.

    That then is `names.type` for the name `type`.
    """
    taken = not name or name in _OF_THE_RECORD or name.startswith(_PREFIX)
    return f"{_PREFIX}{name}" if taken else name
