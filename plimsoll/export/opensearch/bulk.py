"""Documents into OpenSearch by its bulk API: in batches, patiently, and none of them twice.

Every document has its id, so that one that is sent again replaces itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from plimsoll.export.cdm.document import CdmDocument
from plimsoll.export.export_error import ExportError
from plimsoll.export.opensearch.patience import RetryPolicy, Unavailable
from plimsoll.export.opensearch.server import Response, Server

# OpenSearch's own advice is 5 to 15 MiB a request; a small heap is happier with less.
BATCH_BYTES = 4 * 2**20
BATCH_DOCUMENTS = 5_000
# What is wrong with a thousand is wrong with the rest.
MOST_FAILURES = 1_000
# Only what is read of the answer.
_PATH = "/_bulk?filter_path=errors,items.*.status,items.*.error"
_OK, _TOO_LARGE = 200, 413
# For one document: its shard is busy or just moving.
_NOT_NOW = frozenset({429, 503})
_SUCCESS = range(200, 300)


@dataclass(slots=True)
class Failure:
    """A way in which documents were refused: how many of one kind, and the first one's reason."""

    kind: str
    error: str
    reason: str
    count: int = 0

    def __str__(self) -> str:
        return f"{self.count} {self.kind}: {self.error}: {self.reason}"


@dataclass(slots=True)
class Loaded:
    """How many documents were taken, and what became of the others."""

    taken: int = 0
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many were refused."""
        return sum(failure.count for failure in self.failures.values())

    def refuse(self, document: CdmDocument, error: str, reason: str) -> None:
        """Count one."""
        failure = Failure(document.kind, error, reason)
        self.failures.setdefault((document.kind, error), failure).count += 1

    def __str__(self) -> str:
        return "; ".join(map(str, self.failures.values()))


def load(
    server: Server,
    documents: Iterable[CdmDocument],
    patience: RetryPolicy,
    progress: Callable[[int], None] = lambda _: None,
) -> Loaded:
    """Send them all and say what became of them; `progress` is called with how many are done.

    Raises ExportError where the server stays away or refuses a thousand, InputError where it
    refuses these credentials.
    """
    loaded = Loaded()
    for batch in _batches(documents):
        pending = list(batch)
        while pending:
            pending = patience.patiently(partial(_round, server, pending, loaded), server.url)
            _check_failures(server, loaded)
            progress(loaded.taken + loaded.failed)
            if pending:
                patience.pause(1, Unavailable(f"it has no room yet for {len(pending)} documents"))
    return loaded


def _batches(documents: Iterable[CdmDocument]) -> Iterator[list[CdmDocument]]:
    batch: list[CdmDocument] = []
    length = 0
    for document in documents:
        batch.append(document)
        length += len(document.json)
        if length >= BATCH_BYTES or len(batch) >= BATCH_DOCUMENTS:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _round(server: Server, pending: list[CdmDocument], loaded: Loaded) -> list[CdmDocument]:
    """Send them once and return those that are to be sent again.

    Raises Unavailable where that is all of them.
    """
    body = "".join(document.lines for document in pending).encode()
    answer = server.ask("POST", _PATH, body, "application/x-ndjson")
    if answer.status == _TOO_LARGE:
        return _halved(server, pending, loaded)
    items = _items(server, answer, len(pending))
    again = [
        document
        for document, item in zip(pending, items, strict=True)
        if not _settled(document, item, loaded)
    ]
    if len(again) == len(pending):
        raise Unavailable("it has no room for documents now")
    return again


def _halved(server: Server, pending: list[CdmDocument], loaded: Loaded) -> list[CdmDocument]:
    """The server, or a proxy before it, takes less at once."""
    if len(pending) == 1:
        loaded.refuse(pending[0], "HTTP 413", "one document alone is too large")
        return []
    middle = len(pending) // 2
    left: list[CdmDocument] = []
    for half in (pending[:middle], pending[middle:]):
        try:
            left += _round(server, half, loaded)
        except Unavailable:
            left += half
    return left


def _items(server: Server, answer: Response, expected: int) -> Sequence[Mapping[str, Any]]:
    """What the answer says of each document, in the order they were sent."""
    if answer.status != _OK:
        raise server.unexpected("loading", answer)
    items = answer.body.get("items")
    outcomes = [_outcome(item) for item in items] if isinstance(items, list) else []
    if len(outcomes) != expected:
        raise ExportError(
            f"of {expected} documents its answer names {len(outcomes)}",
            where=server.url,
            remedy="see that this is an OpenSearch or Elasticsearch, and no other server",
        )
    return outcomes


def _outcome(item: object) -> Mapping[str, Any]:
    outcome = item.get("index") if isinstance(item, dict) else None
    return outcome if isinstance(outcome, dict) else {}


def _settled(document: CdmDocument, outcome: Mapping[str, Any], loaded: Loaded) -> bool:
    """Count what became of a document; False where it is to be sent again."""
    status = outcome.get("status")
    if status in _NOT_NOW:
        return False
    if status in _SUCCESS:
        loaded.taken += 1
        return True
    error = outcome.get("error")
    fields = error if isinstance(error, dict) else {}
    loaded.refuse(
        document, str(fields.get("type", f"HTTP {status}")), str(fields.get("reason", ""))
    )
    return True


def _check_failures(server: Server, loaded: Loaded) -> None:
    if loaded.failed >= MOST_FAILURES:
        raise ExportError(
            f"it refused {loaded.failed} documents and took {loaded.taken}: {loaded}",
            where=server.url,
            remedy="see that its indices are those of this version of CDM (--cdm-version)",
        )
