"""Documents into OpenSearch by its bulk API: in batches, patiently, and none of them twice.

Every document has its id, so that one that is sent again replaces itself.

The indices that documents go to: looked for before anything is sent, created on request. An index
that OpenSearch makes by itself takes ids for prose and times for numbers, and no query of
Crucible's finds anything in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

from plimsoll.errors import InputError
from plimsoll.export.cdm.document import CdmDocument, CdmVersion, index_definition
from plimsoll.export.opensearch.server import Response, RetryPolicy, Server, Unavailable
from plimsoll.export.output_file import ExportError

# OpenSearch's own advice is 5 to 15 MiB a request; a small heap is happier with less.
BATCH_BYTES = 4 * 2**20
BATCH_DOCUMENTS = 5_000
# What is wrong with a thousand is wrong with the rest.
MAX_FAILURES = 1_000
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
    if loaded.failed >= MAX_FAILURES:
        raise ExportError(
            f"it refused {loaded.failed} documents and took {loaded.taken}: {loaded}",
            where=server.url,
            remedy="see that its indices are those of this version of CDM (--cdm-version)",
        )


_INDEX_OK, _BAD_REQUEST, _NOT_FOUND = 200, 400, 404
_MADE_MEANWHILE = "resource_already_exists_exception"


def prepare_indices(
    server: Server,
    indices: Mapping[str, str],
    version: CdmVersion,
    patience: RetryPolicy,
    *,
    make: bool,
) -> tuple[str, ...]:
    """See that every index is there; with `make`, make and return those that are missing.

    `indices` gives the name of each kind's. Raises InputError where some are missing and
    are not to be made, and ExportError.
    """
    missing = {
        kind: index for kind, index in indices.items() if not _is_there(server, index, patience)
    }
    if missing and not make:
        raise InputError(
            f"it has no index {', '.join(missing.values())}",
            where=server.url,
            remedy="add --make-indices, or have Crucible index a run of its own first",
        )
    for kind, index in missing.items():
        _make(server, index, json.dumps(index_definition(kind, version)).encode(), patience)
    return tuple(missing.values())


def _is_there(server: Server, index: str, patience: RetryPolicy) -> bool:
    answer = patience.patiently(lambda: server.ask("HEAD", _path(index)), server.url)
    if answer.status not in (_INDEX_OK, _NOT_FOUND):
        raise server.unexpected(f"looking for the index {index}", answer)
    return answer.status == _INDEX_OK


def _make(server: Server, index: str, definition: bytes, patience: RetryPolicy) -> None:
    answer = patience.patiently(lambda: server.ask("PUT", _path(index), definition), server.url)
    if answer.status != _INDEX_OK and not _exists_already(answer):
        raise server.unexpected(f"making the index {index}", answer)


def _exists_already(answer: Response) -> bool:
    error = answer.body.get("error")
    return (
        answer.status == _BAD_REQUEST
        and isinstance(error, dict)
        and error.get("type") == _MADE_MEANWHILE
    )


def _path(index: str) -> str:
    return f"/{quote(index, safe='@')}"
