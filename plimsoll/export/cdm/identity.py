"""The ids of documents: of the same run always the same, so that loading twice doubles nothing."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

# Made once, at random, for Plimsoll.
_PLIMSOLL = uuid.UUID("3f0c6f0e-5a1b-4d0e-9d55-7f1c1a4b9e27")


class DocumentIds:
    """Makes the ids of one run's documents (UUIDs of version 5, RFC 9562 section 5.5)."""

    def __init__(self, run_id: str, started_unix_ns: int) -> None:
        """Of the run that has this id and was started then."""
        self._run = uuid.uuid5(_PLIMSOLL, f"{run_id}/{started_unix_ns}")

    @property
    def run(self) -> str:
        """Of the run itself."""
        return str(self._run)

    def of(self, kind: str, *parts: object) -> str:
        """Of another document, by its kind and what tells it from others of that kind."""
        return str(uuid.uuid5(self._run, "/".join([kind, *map(str, parts)])))

    def of_series(self, source: str, kind: str, names: Mapping[str, str]) -> str:
        """Of a metric's descriptor."""
        return self.of("metric_desc", source, kind, sorted(names.items()))
