"""Asking a running ovs-vswitchd as ovs-appctl does, without a process for each question.

The protocol is JSON-RPC 1.0 over a stream of objects (ovs-appctl(8), python/ovs/unixctl).
"""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

_BLOCK_BYTES = 65536
_LONGEST_ANSWER_BYTES = 1 << 20


class ControlSocket:
    """One connection. Raises OSError where nothing listens, ValueError for what is no answer."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(0)
            self._socket.connect(str(path))
        except BaseException:
            self._socket.close()
            raise
        self._number = 0
        self._unread = b""

    def ask(self, command: str, deadline_s: float, *parameters: str) -> str:
        """What the command prints, by `deadline_s` of the monotonic clock.

        Raises OSError (TimeoutError where it did not come) and ValueError; then close it: an
        answer that is still owed would be taken for the next.
        """
        self._number += 1
        request = {"id": self._number, "method": command, "params": parameters}
        self._socket.settimeout(_left(deadline_s))
        self._socket.sendall(json.dumps(request).encode())
        answer = self._answer(deadline_s)
        if answer.get("id") != self._number or not isinstance(answer.get("result"), str):
            raise ValueError(f"ovs-vswitchd does not answer {command}: {answer.get('error')}")
        return str(answer["result"])

    def close(self) -> None:
        """Hang up; safe to repeat."""
        self._socket.close()

    def _answer(self, deadline_s: float) -> dict[str, object]:
        decoder = json.JSONDecoder()
        while True:
            try:
                text = self._unread.decode()
                answer, end = decoder.raw_decode(text.lstrip())
            except ValueError:
                # It is not whole yet.
                if len(self._unread) > _LONGEST_ANSWER_BYTES:
                    raise
                self._receive(deadline_s)
                continue
            self._unread = text.lstrip()[end:].encode()
            if not isinstance(answer, dict):
                raise ValueError("ovs-vswitchd answers with what is no object")
            return answer

    def _receive(self, deadline_s: float) -> None:
        self._socket.settimeout(_left(deadline_s))
        block = self._socket.recv(_BLOCK_BYTES)
        if not block:
            raise ConnectionResetError("ovs-vswitchd has hung up")
        self._unread += block


def _left(deadline_s: float) -> float:
    left_s = deadline_s - time.monotonic()
    if left_s <= 0:
        raise TimeoutError("no answer in time")
    return left_s
