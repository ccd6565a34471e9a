"""JSON-RPC 2.0 as TRex speaks it: requests alone or in batches, answers in the same form."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import PlimsollError

Params = dict[str, Any]
# A method and its parameters; what it returns is the result.
Call = Callable[[str, Params], Any]
# Of a batch: as many streams as a port has, of two hundred values each.
_MAX_VALUES = 1_000_000
_MAX_IN_A_BATCH = 4096
# TRex's clients read both; only long answers are worth it.
_ZIPPED_FROM = 4096
_PARSE, _INVALID, _NO_METHOD, _PARAMS, _INTERNAL = -32700, -32600, -32601, -32602, -32603
_EXECUTE = -32000
# Python's own limit on recursion is far above what is ever nested.
_DEEPEST = 64
_HEADER = struct.Struct(">II")
_MARK = 0xABE8_5CEA
# What the engine takes in a line, and more than any profile of TRex's comes to.
MAX_BYTES = 32 * 2**20


class UnknownMethod(Exception):
    """No such method; why, for people."""


class BadParameters(Exception):
    """A method's parameters are not what they should be; why, for people."""


class MethodRefused(Exception):
    """A method that cannot be carried out now; why, for people."""


@dataclass(frozen=True, slots=True)
class _Error:
    code: int
    message: str
    specific: str | None = None

    def answer(self, message_id: Any) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.specific is not None:
            error["specific_err"] = self.specific
        return {"jsonrpc": "2.0", "id": message_id, "error": error}


def answered(message: bytes, call: Call) -> bytes:
    """The answer to a message of a client, whatever its bytes are; never raises."""
    try:
        requests = _parsed(message)
    except ValueError as error:
        return _encoded(_Error(_PARSE, "Bad JSON Format", str(error)[:200]).answer(None), False)
    if isinstance(requests, list):
        if len(requests) > _MAX_IN_A_BATCH:
            said = f"a batch of {len(requests)} requests, more than {_MAX_IN_A_BATCH}"
            return _encoded(_Error(_INVALID, said).answer(None), False)
        return _encoded([_answer(each, call) for each in requests], is_zipped(message))
    return _encoded(_answer(requests, call), is_zipped(message))


def _parsed(message: bytes) -> Any:
    if len(message) > MAX_BYTES:
        raise TooLarge(f"a message of {len(message)} bytes is longer than {MAX_BYTES}")
    content = unzipped(message) if is_zipped(message) else message
    return bounded_json(content, _MAX_VALUES)


def _answer(request: Any, call: Call) -> dict[str, Any]:
    message_id = request.get("id") if isinstance(request, dict) else None
    if not isinstance(message_id, str | int):
        return _Error(_INVALID, "Missing 'id' field").answer(None)
    mistake = _mistake_in(request)
    if mistake is not None:
        return mistake.answer(message_id)
    return _carried_out(request["method"], request.get("params") or {}, message_id, call)


def _mistake_in(request: dict[str, Any]) -> _Error | None:
    if request.get("jsonrpc") != "2.0":
        return _Error(_INVALID, "Invalid JSONRPC Version")
    method, params = request.get("method"), request.get("params")
    if not isinstance(method, str) or not method:
        return _Error(_INVALID, "Missing Method Name")
    if params is not None and not isinstance(params, dict):
        return _Error(_PARAMS, "Bad parameters for method", "not an object")
    return None


def _carried_out(method: str, params: Params, message_id: str | int, call: Call) -> dict[str, Any]:
    try:
        return {"jsonrpc": "2.0", "id": message_id, "result": call(method, params)}
    except UnknownMethod as error:
        found = _Error(_NO_METHOD, str(error))
    except BadParameters as error:
        found = _Error(_PARAMS, "Bad parameters for method", str(error))
    except (MethodRefused, PlimsollError) as error:
        found = _Error(_EXECUTE, "Failed To Execute Method", str(error))
    # A mistake of ours must not end a session of theirs.
    except Exception as error:
        kind = f"{type(error).__name__}: {error}"
        found = _Error(_INTERNAL, "Internal Server Error", kind[:400])
    return found.answer(message_id)


def _encoded(answer: Any, may_zip: bool) -> bytes:
    content = json.dumps(answer, separators=(",", ":"), allow_nan=False).encode()
    return zipped(content) if may_zip and len(content) >= _ZIPPED_FROM else content


# JSON from outside, with a bound on what becomes of it in memory.
#
# A byte or two are enough for an object or a list, which take a hundred in memory; so a request of
# a few MiB, or a few KiB where it was compressed, could take as many GiB.
def bounded_json(content: bytes, most_values: int) -> Any:
    """The document. Raises ValueError for one that is none, too large, or nested too deeply.

    Each value but the first follows a comma or a bracket, and those are counted, the ones within
    texts, too.
    """
    if sum(map(content.count, (b",", b"[", b"{"))) > most_values:
        raise ValueError(f"it has more than {most_values} values")
    try:
        found = json.loads(content, parse_constant=_no_constant)
    except RecursionError:
        raise _too_deep() from None
    _check_depth(found)
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _check_depth(document: Any) -> None:
    """Raise ValueError where it is nested too deeply; level by level, as it may be very deep."""
    level: list[Any] = [document]
    for _ in range(_DEEPEST + 1):
        level = [inner for each in level for inner in _within(each)]
        if not level:
            return
    raise _too_deep()


def _within(value: Any) -> Iterable[Any]:
    """The objects and lists right in it."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return ()
    return [each for each in value if isinstance(each, dict | list)]


def _too_deep() -> ValueError:
    return ValueError(f"it is nested deeper than {_DEEPEST}")


# TRex's zipped messages: a mark, the length, and zlib's stream.
class TooLarge(ValueError):
    """A message that is longer than any should be, or is not what it says."""


def is_zipped(message: bytes) -> bool:
    """Whether it begins as TRex's zipped messages do."""
    return len(message) >= _HEADER.size and _HEADER.unpack_from(message)[0] == _MARK


def unzipped(message: bytes) -> bytes:
    """The content, no matter what the header claims at most 32 MiB. Raises TooLarge."""
    _, length = _HEADER.unpack_from(message)
    if length > MAX_BYTES:
        raise TooLarge(f"a message of {length} bytes is longer than {MAX_BYTES}")
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(message[_HEADER.size :], length + 1)
    except zlib.error as error:
        raise TooLarge(f"a zipped message cannot be read: {error}") from None
    if len(content) != length or not reader.eof:
        raise TooLarge("a zipped message has another length than it says")
    return content


def zipped(content: bytes) -> bytes:
    """The message of some content."""
    return _HEADER.pack(_MARK, len(content)) + zlib.compress(content)
