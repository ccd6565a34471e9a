"""The delay DUT (engine/tests/delay_dut): it does as configured, and reports what it did."""

import json
import os
import select
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from plimsoll.host.processes.affinity import raise_priority
from plimsoll.host.processes.child import with_parent_death_signal
from tests.integration.engine.requests import CPUS

ROOT = Path(__file__).resolve().parents[3]
# Where `make engine-tests` builds it, unless this variable names another.
VARIABLE = "PLIMSOLL_DELAY_DUT"
BUILT = ROOT / "build/engine-tests/engine/tests/delay-dut"
# No test waits this long for a DUT in order; it only ends a test of one that hangs.
HANGS_AFTER_S = 300.0

Behaviour = dict[str, Any]


@dataclass(frozen=True)
class Sent:
    """A frame of the engine's, as the DUT sent it, held for so long at least."""

    port: int
    stream: int
    sequence: int
    hold_ns: int
    done: frozenset[str]


@dataclass(frozen=True)
class DutReport:
    """What the DUT did since it was configured; `sent` in the order of sending."""

    ports: tuple[dict[str, int], ...]
    paths: tuple[dict[str, Any], ...]
    sent: tuple[Sent, ...]

    def applied(self, path: int = 0) -> list[int]:
        """How often each of a path's wrongs was done."""
        return list(self.paths[path]["applied"])

    def of(self, stream: int) -> list[Sent]:
        """What it sent of one stream."""
        return [frame for frame in self.sent if frame.stream == stream]


class DelayDut:
    """One DUT process with these ports, forwarding on `cpu`."""

    def __init__(self, folder: Path, *devargs: str, cpu: int = CPUS[-1]) -> None:
        self._stderr = folder / "delay-dut.stderr"
        self._pending = b""
        lcores = f"0@({','.join(map(str, CPUS))}),1@{cpu}"
        vdevs = [word for device in devargs for word in ("--vdev", device)]
        with self._stderr.open("wb") as stderr:
            self._process = subprocess.Popen(
                with_parent_death_signal(
                    [
                        *(find_delay_dut(), "--lcores", lcores, "--no-pci", "--no-telemetry"),
                        *("--no-huge", "--no-shconf", "--file-prefix", "delay-dut", "-m", "96"),
                        *vdevs,
                    ]
                ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, "RUNTIME_DIRECTORY": str(folder)},
                start_new_session=True,
            )
        raise_priority(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def behave(self, *paths: Behaviour, seed: int = 1) -> None:
        """Forget what was, and behave so from now on."""
        assert self.ask({"behave": {"seed": seed, "paths": paths}}) == {"ready": True}

    def report(self, tsc_hz: float | None = None) -> DutReport:
        """What it did; the test's own limits must not have been met.

        Both processes read one TSC, but each goes by its own idea of that one's rate:
        `tsc_hz` is whose the holds are to be compared with, the DUT's own by default.
        """
        answer = self.ask({"report": True})
        tsc_hz = tsc_hz or answer["tsc_hz"]
        assert answer["unrecorded"] == 0
        for path in answer["paths"]:
            for trouble in ("misfits", "unmade", "overfull", "refusals", "held"):
                assert path[trouble] == 0, trouble
        sent = answer["sent"]
        columns = (sent[name] for name in ("port", "stream", "sequence", "hold", "done"))
        return DutReport(
            ports=tuple(answer["ports"]),
            paths=tuple(answer["paths"]),
            sent=tuple(
                Sent(*identity, int(hold / tsc_hz * 1e9), names_of(done, answer["actions"]))
                for *identity, hold, done in zip(*columns, strict=True)
            ),
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One line to it and one from it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._read_line())
        assert isinstance(answer, dict)
        return answer

    def finish(self) -> None:
        """Close its input; it must end well."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(HANGS_AFTER_S) == 0, self._stderr.read_text(errors="replace")

    def _read_line(self) -> bytes:
        assert self._process.stdout is not None
        deadline = time.monotonic() + HANGS_AFTER_S
        while b"\n" not in self._pending:
            ready, _, _ = select.select(
                [self._process.stdout], [], [], max(0.0, deadline - time.monotonic())
            )
            chunk = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            assert chunk, f"the DUT says nothing: {self._stderr.read_text(errors='replace')}"
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line


def find_delay_dut() -> str:
    """The program's path; it is built with the engine's own tests."""
    program = Path(os.environ.get(VARIABLE, BUILT))
    assert os.access(program, os.X_OK), f"{program} is missing: run `make engine-tests`"
    return str(program)


def path(source: int, target: int, **changes: Any) -> Behaviour:
    """A path that forwards everything at once, unless `changes` say otherwise."""
    return {"from": source, "to": target, **changes}


def names_of(done: int, actions: Sequence[str]) -> frozenset[str]:
    """The wrongs that the bits stand for."""
    return frozenset(name for bit, name in enumerate(actions) if done >> bit & 1)
