"""A run's counts by flow, read as a user does, without Plimsoll."""

from pathlib import Path
from typing import Any

import duckdb


def flow_rows(run: Path, trial: int) -> list[dict[str, Any]]:
    """The trial's flows, those that lost most first; the columns by name."""
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT * FROM read_parquet($path) ORDER BY lost DESC, stream, flow",
            {"path": str(run / f"flows/{trial}.parquet")},
        )
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, values, strict=True)) for values in found.fetchall()]
