"""The versions of the Common Data Model, and what they differ in.

From v8 on each kind of document has an id field of its own (`iteration-uuid`, …). v9 put the
month into the names of indices, v10 gave metrics a default aggregation (Crucible's
docs/how-cdm-works.md, "Versioning"; index names as CommonDataModel's cdm.js makes them).
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum


class CdmVersion(StrEnum):
    """A version, by the name that documents and indices have for it."""

    V8 = "v8dev"
    V9 = "v9dev"
    V10 = "v10dev"

    @property
    def has_aggregation(self) -> bool:
        """Whether a metric says how its series become one; without, all are summed."""
        return self is CdmVersion.V10

    def index_of(self, kind: str, begin_ms: int) -> str:
        """The index of one kind of documents, for a run that began then (ms since the epoch)."""
        if self is CdmVersion.V8:
            return f"cdm{self}-{kind}"
        month = datetime.fromtimestamp(begin_ms / 1000, UTC)
        return f"cdm-{self}-{kind}@{month:%Y.%m}"
