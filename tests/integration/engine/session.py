"""One engine process under test; every line that it prints is checked against the schema."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from jsonschema import Draft202012Validator

from plimsoll.generator.engine.program import find_engine
from plimsoll.host.processes.child import tied_to_parent

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs/schemas/engine-protocol.schema.json").read_text())
# By name, for trying all of them on each line, as `oneOf` has to, takes a good part of a CPU.
SAID = {
    name: Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})
    for kind in ("reply", "event")
    for name in (each["$ref"].rpartition("/")[2] for each in SCHEMA["$defs"][kind]["oneOf"])
}
# No test waits this long for an engine in order; it only ends a test of one that hangs.
HANGS_AFTER_S = 60.0

Message = dict[str, Any]


class EngineSession:
    """The engine's stdin and stdout; `messages` are all that it said so far.

    `within` is a command that runs the engine elsewhere, such as in a network namespace, where
    it may be so slow that it is not taken for one that hangs before `hangs_after_s`.
    """

    def __init__(
        self,
        folder: Path,
        name: str = "engine",
        within: Sequence[str] = (),
        hangs_after_s: float = HANGS_AFTER_S,
    ) -> None:
        self._hangs_after_s = hangs_after_s
        self._stderr = folder / f"{name}.stderr"
        self.messages: list[Message] = []
        self._pending = b""
        with self._stderr.open("wb") as stderr:
            self.process = subprocess.Popen(
                tied_to_parent([*within, str(find_engine())]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, "RUNTIME_DIRECTORY": str(folder)},
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in = self.process.stdin
        self._out = self.process.stdout
        self.hello = self.next()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._out.close()
        self._in.close()

    @property
    def stderr(self) -> str:
        return self._stderr.read_text(errors="replace")

    @property
    def intervals(self) -> list[Message]:
        return [message for message in self.messages if message.get("event") == "interval"]

    def send(self, request: Message) -> None:
        self.send_line(json.dumps(request).encode())

    def send_line(self, line: bytes) -> None:
        self._in.write(line + b"\n")
        self._in.flush()

    def next(self) -> Message:
        """The next message."""
        line = self._read_line()
        assert line, f"the engine ended: {self.stderr}"
        return dict(self._checked(line))

    def next_interval(self) -> Message:
        while "event" not in (message := self.next()):
            pass
        return message

    def reply_to(self, number: int | None) -> Message:
        """The reply with that id, whatever comes before it."""
        while True:
            message = self.next()
            if "ok" in message and message["id"] == number:
                return message

    def ask(self, request: Message) -> Message:
        """Send a request and wait for its reply, which must be good."""
        self.send(request)
        reply = self.reply_to(request["id"])
        assert reply["ok"], f"{reply}: {self.stderr}"
        return reply

    def ask_in_vain(self, request: Message) -> Message:
        """Send a request that must be refused; the error."""
        self.send(request)
        reply = self.reply_to(request["id"])
        assert not reply["ok"]
        return dict(reply["error"])

    def close_input(self) -> None:
        self._in.close()

    def close_output(self) -> None:
        self._out.close()

    def end(self) -> int:
        """Read what is still to come after the engine was signalled to end; its exit status."""
        while line := self._read_line():
            self._checked(line)
        return self.process.wait(self._hangs_after_s)

    def finish(self) -> None:
        """Close its input; it must end well."""
        self.close_input()
        status = self.end()
        assert status == 0, f"exit status {status}: {self.stderr}"

    def _checked(self, line: bytes) -> Message:
        message: Message = json.loads(line)
        if "event" in message:
            name = f"{message['event']}_event"
        else:
            name = f"{message['reply']}_reply" if message["ok"] else "error_reply"
        SAID[name].validate(message)
        self.messages.append(message)
        return message

    def _read_line(self) -> bytes:
        """The next line, or nothing at the end."""
        deadline = time.monotonic() + self._hangs_after_s
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self._out], [], [], deadline - time.monotonic())
            assert ready, f"the engine says nothing: {self.stderr}"
            chunk = os.read(self._out.fileno(), 1 << 16)
            if not chunk:
                # A kill may have come while it was written.
                killed = self.process.wait(HANGS_AFTER_S) == -signal.SIGKILL
                assert killed or self._pending == b"", "the last line has no end"
                return b""
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line
