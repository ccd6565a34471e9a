import socket
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from websocket import ABNF, WebSocketConnectionClosedException

from plimsoll.host.kubernetes.exec_stream import ExecStream, StreamEnded
from tests.worded.says import Says


class Frame(NamedTuple):
    data: bytes


class Held(socket.socket):
    """Readable for ever, as TLS that holds messages already."""

    def pending(self) -> int:
        return 1


class Recorded:
    """A web socket that says what was recorded of one, and keeps what it is sent."""

    def __init__(self, messages: Sequence[tuple[int, bytes]]) -> None:
        self._messages = list(messages)
        self.sent: list[bytes] = []
        self.sock = Held()

    def recv_data_frame(self, control_frame: bool) -> tuple[int, Frame]:
        if not self._messages:
            raise WebSocketConnectionClosedException("gone")
        operation, data = self._messages.pop(0)
        return operation, Frame(data)

    def send_binary(self, data: bytes) -> None:
        self.sent.append(data)

    def close(self, timeout: float) -> None:
        self.sock.close()


def stream(*messages: bytes, last: int = ABNF.OPCODE_BINARY) -> tuple[ExecStream, Recorded]:
    recorded = Recorded(
        [(ABNF.OPCODE_PING, b""), *((ABNF.OPCODE_BINARY, each) for each in messages)]
    )
    return ExecStream(recorded, "pod/record"), recorded


def test_output_is_read_by_lines_and_lengths_whatever_the_messages() -> None:
    opened, _ = stream(b'\x01{"a', b"\x02noise", b'\x01": 1}\nab', b"\x01", b"\x01cdef\n")
    assert opened.read_line(1) == b'{"a": 1}'
    assert opened.read(4, 1) == b"abcd"
    assert opened.read_line(1) == b"ef"


def test_input_goes_in_blocks_on_its_channel() -> None:
    opened, recorded = stream()
    opened.write(b"x" * 70_000)
    assert {each[:1] for each in recorded.sent} == {b"\0"}
    assert b"".join(each[1:] for each in recorded.sent) == b"x" * 70_000
    assert max(map(len, recorded.sent)) <= 32769


def test_the_end_of_the_command_says_what_it_said(says: Says) -> None:
    opened, _ = stream(
        b"\x02Traceback\nModuleNotFoundError: no plimsoll\n", b'\x03{"status":"Failure"}'
    )
    with pytest.raises(StreamEnded) as caught:
        opened.read_line(1)
    assert caught.value == says("ModuleNotFoundError")


def test_a_connection_that_broke_is_an_end_too() -> None:
    opened, _ = stream(b"\x01half a li")
    with pytest.raises(StreamEnded, match="gone"):
        opened.read_line(1)


def test_silence_is_not_waited_for_for_ever(says: Says) -> None:
    opened, recorded = stream()
    one, other = socket.socketpair()
    with one, other:
        recorded.sock = one  # type: ignore[assignment]
        with pytest.raises(StreamEnded) as caught:
            opened.read_line(0.01)
        assert caught.value == says()
