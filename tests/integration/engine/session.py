"""One engine process under test; every line that it prints is checked against the schema.

That is done once it has ended: a line takes longer to check than intervals last, the less CPU
the engine's polling loops leave to the test.
"""

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
from plimsoll.host.processes.affinity import raise_priority
from plimsoll.host.processes.child import with_parent_death_signal
from tests.tried_again import SpoiltByMachine

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs/schemas/engine-protocol.schema.json").read_text())
# By name, for trying all of them on each line, as `oneOf` has to, takes a good part of a CPU.
SAID = {
    name: Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})
    for kind in ("reply", "event")
    for name in (each["$ref"].rpartition("/")[2] for each in SCHEMA["$defs"][kind]["oneOf"])
}
# No test waits this long for an engine in order; it only ends a test of one that hangs.
HANGS_AFTER_S = 300.0
# The most that a request may say (docs/engine-protocol.md).
LONGEST_CATCH_UP_NS = 1_000_000_000

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
        self._said: list[Message] = []
        self._pending = b""
        with self._stderr.open("wb") as stderr:
            self.process = subprocess.Popen(
                with_parent_death_signal([*within, str(find_engine())]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, "RUNTIME_DIRECTORY": str(folder)},
                start_new_session=True,
            )
        # As a run has its loops.
        raise_priority(self.process.pid)
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
        for message in self._said:
            _check(message)

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
        return self._take(line)

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
        """Send a request and wait for its reply, which must be good.

        Raises SpoiltByMachine where a loop was away for longer than any trial makes up for.
        """
        self.send(request)
        reply = self.reply_to(request["id"])
        assert reply["ok"], f"{reply}: {self.stderr}"
        for worker in reply.get("workers", ()):
            # What had been due before was not sent any more, however late.
            if worker["worst_stall_ns"] > LONGEST_CATCH_UP_NS:
                raise SpoiltByMachine(f"a polling loop was away for {worker['worst_stall_ns']} ns")
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
            self._take(line)
        return self.process.wait(self._hangs_after_s)

    def finish(self) -> None:
        """Close its input; it must end well."""
        self.close_input()
        status = self.end()
        assert status == 0, f"exit status {status}: {self.stderr}"

    def _take(self, line: bytes) -> Message:
        message: Message = json.loads(line)
        self._said.append(message)
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


def _check(message: Message) -> None:
    if "event" in message:
        name = f"{message['event']}_event"
    else:
        name = f"{message['reply']}_reply" if message["ok"] else "error_reply"
    SAID[name].validate(message)
