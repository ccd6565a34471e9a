"""The indices that documents go to: looked for before anything is sent, created on request.

An index that OpenSearch makes by itself takes ids for prose and times for numbers, and no
query of Crucible's finds anything in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote

from plimsoll.errors import InputError
from plimsoll.export.cdm.document import CdmVersion
from plimsoll.export.cdm.mappings import index_definition
from plimsoll.export.opensearch.patience import RetryPolicy
from plimsoll.export.opensearch.server import Response, Server

_OK, _BAD_REQUEST, _NOT_FOUND = 200, 400, 404
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
    if answer.status not in (_OK, _NOT_FOUND):
        raise server.unexpected(f"looking for the index {index}", answer)
    return answer.status == _OK


def _make(server: Server, index: str, definition: bytes, patience: RetryPolicy) -> None:
    answer = patience.patiently(lambda: server.ask("PUT", _path(index), definition), server.url)
    if answer.status != _OK and not _exists_already(answer):
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
