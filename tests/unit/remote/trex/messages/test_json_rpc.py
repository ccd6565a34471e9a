"""Messages of clients, whatever their bytes are."""

import json
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.remote.trex.messages.json_rpc import (
    BadParameters,
    MethodRefused,
    Params,
    TooLarge,
    UnknownMethod,
    answered,
    is_zipped,
    unzipped,
    zipped,
)
from tests.worded.says import Says

MARK = 0xABE85CEA


def call(method: str, params: Params) -> Any:
    match method:
        case "echo":
            return params
        case "unknown":
            raise UnknownMethod("Method unknown not registered")
        case "bad":
            raise BadParameters("field 'x' is missing")
        case "refused":
            raise MethodRefused("not now")
        case "input":
            raise InputError("too long", where="packet.binary", remedy="give less")
    raise ZeroDivisionError("ours")


def answer(request: Any) -> Any:
    return json.loads(answered(json.dumps(request).encode(), call))


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "a1", "method": method, "params": params}


def test_a_result_has_its_requests_id() -> None:
    found = answer(request("echo", x=1))
    assert found == {"jsonrpc": "2.0", "id": "a1", "result": {"x": 1}}


def test_a_batch_is_answered_as_one() -> None:
    found = answer([request("echo", x=1), request("bad")])
    assert [each.get("result") for each in found] == [{"x": 1}, None]


@pytest.mark.parametrize(
    ("method", "code", "specific"),
    [
        ("unknown", -32601, None),
        ("bad", -32602, "field 'x' is missing"),
        ("refused", -32000, "not now"),
        ("input", -32000, "packet.binary: too long (give less)"),
        ("broken", -32603, "ZeroDivisionError: ours"),
    ],
)
def test_errors_have_trexs_codes(method: str, code: int, specific: str | None) -> None:
    error = answer(request(method))["error"]
    assert (error["code"], error.get("specific_err")) == (code, specific)


@pytest.mark.parametrize(
    ("given_", "code"),
    [
        ({"jsonrpc": "2.0", "method": "echo"}, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "echo"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": [], "method": "echo"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": [1]}, -32602),
        ("text", -32600),
        ([request("echo")] * 4097, -32600),
    ],
)
def test_requests_that_are_none(given_: Any, code: int) -> None:
    assert answer(given_)["error"]["code"] == code


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"id": NaN}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        struct.pack(">II", MARK, 10) + b"no zlib",
        struct.pack(">II", MARK, 2**32 - 1) + zlib.compress(b"{}"),
        struct.pack(">II", MARK, 5) + zlib.compress(b"{}"),
    ],
)
def test_bytes_that_are_no_json(message: bytes) -> None:
    found = json.loads(answered(message, call))
    assert found["error"]["code"] == -32700


def test_a_zipped_request_has_a_zipped_answer_where_it_is_long() -> None:
    short, long = (zipped(json.dumps(request("echo", x="y" * n)).encode()) for n in (1, 9000))
    assert not is_zipped(answered(short, call))
    found = answered(long, call)
    assert is_zipped(found)
    assert json.loads(unzipped(found))["result"] == {"x": "y" * 9000}


def test_a_bomb_is_not_unpacked() -> None:
    # A gigabyte of zeroes in a megabyte, which says that it is small, or how large it is.
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(2**20)) for _ in range(64)) + packer.flush()
    for said in (10, 2**25, 64 * 2**20):
        with pytest.raises(TooLarge):
            unzipped(struct.pack(">II", MARK, said) + packed)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise(message: bytes) -> None:
    assert json.loads(answered(message, call))


def test_what_is_small_where_it_is_unpacked_may_not_be_large_in_memory(says: Says) -> None:
    """Of some KB Python would make a million lists; of 30 KB as many as take a gigabyte."""
    message = zipped(b"[" + b"[]," * 1_000_000 + b"[]]")
    assert len(message) < 4_000
    error = json.loads(answered(message, call))["error"]
    assert error["code"] == -32700
    assert error["specific_err"] == says("1000000")


def test_a_batch_of_as_many_streams_as_a_port_has_is_read() -> None:
    stream = {"packet": {"binary": "A" * 100}, "vm": {"instructions": [{"x": 1}] * 20}}
    found = answer([request("echo", **stream)] * 4096)
    assert len(found) == 4096
