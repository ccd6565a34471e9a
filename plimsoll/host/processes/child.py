"""A program of someone else's, started by us, watched, and ended."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from plimsoll.errors import MachineError
from plimsoll.host.processes.affinity import raise_priority
from plimsoll.host.processes.identity import ProcessIdentity, identify
from plimsoll.host.processes.privileges import limited

# "ours": dies with us, whatever kills us. "standing": lives on when we end.
Lifetime = Literal["ours", "standing"]
_KILL_TIMEOUT_S = 10.0
_TAIL_BYTES = 16384
# Commands to a terminal (ECMA-48), and other control characters but the ends of lines.
_CONTROLS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])|[\x00-\x08\x0e-\x1f\x7f-\x9f]")


class Child:
    """One running program, in a session of its own, its output in a log file.

    Its stdin stays open and silent as long as the program should live.
    """

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.name = name
        self.log = log
        self._process = process
        self.identity: ProcessIdentity = identify(process.pid)

    @classmethod
    def start(
        cls,
        argv: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str],
        lifetime: Lifetime = "ours",
        needed: frozenset[int] | None = None,
        favoured: bool = True,
        folder: Path | None = None,
        namespace: Path | None = None,
        terminal: int | None = None,
        inherited: Sequence[int] = (),
    ) -> Child:
        """Start `argv`, whose first word is a program on PATH, in `folder`, by default ours.

        With `needed` it has at most those capabilities (privileges.py), else all of ours.
        Unless it is not `favoured`, its threads come before ordinary programs (priority.py).
        `namespace` is the network namespace that it lives in, by default ours. It reads from
        `terminal`, for programs that refuse to run without one, and has the files `inherited`,
        by their numbers here.

        The kernel ties a child of lifetime "ours" to the *thread* that starts it: call
        this on one that lasts as long as the child should. Raises MachineError when
        the program is missing or does not start.
        """
        standing = lifetime == "standing"
        command = tuple(argv) if standing else with_parent_death_signal(argv)
        if needed is not None:
            command = limited(command, needed)
        if namespace is not None:
            # First of all, for it takes CAP_SYS_ADMIN to enter.
            command = ("nsenter", f"--net={namespace}", "--", *command)
        stdin = subprocess.PIPE if terminal is None else terminal
        if standing:
            stdin = _endless_stdin(log.with_suffix(".stdin"))
        try:
            with log.open("ab") as output:
                process = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
                    command,
                    stdin=stdin,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=dict(environment),
                    cwd=folder,
                    pass_fds=tuple(inherited),
                    start_new_session=True,
                )
        except OSError as error:
            raise MachineError(
                f"cannot start it: {error.strerror}",
                where=argv[0],
                remedy="install it, or put it on PATH",
            ) from error
        finally:
            if standing:
                os.close(stdin)
        if favoured:
            raise_priority(process.pid)
        return cls(Path(argv[0]).name, process, log)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def exit_status(self) -> int | None:
        """None while it runs; its exit status; or minus the signal that killed it."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> bool:
        """Whether it ended within `timeout_s`."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def ask_to_end(self) -> None:
        """Ask it to end by SIGTERM, and do not wait."""
        self._process.terminate()

    def interrupt(self) -> None:
        """Ask it to end by SIGINT, as who typed Ctrl-C would, and do not wait."""
        self._process.send_signal(signal.SIGINT)

    def end(self, patience_s: float) -> None:
        """Ask it to end, kill it after `patience_s`, and wait until it is gone."""
        if self.exit_status() is None:
            self.ask_to_end()
            if not self.wait(patience_s):
                self._process.kill()
                self._process.wait(_KILL_TIMEOUT_S)
        if self._process.stdin is not None:
            self._process.stdin.close()

    def log_tail(self, lines: int = 12) -> tuple[str, ...]:
        """The last non-empty lines that it printed."""
        return log_tail(self.log, lines)


def with_parent_death_signal(argv: Sequence[str]) -> tuple[str, ...]:
    """`argv` such that the kernel kills the process when the thread that started it ends.

    By setpriv, because Python code between fork and exec can deadlock. Raises
    MachineError where setpriv is missing.
    """
    if shutil.which("setpriv") is None:
        raise MachineError(
            "setpriv is missing", where="PATH", remedy="install the package util-linux"
        )
    return ("setpriv", "--pdeathsig", "KILL", "--", *argv)


def describe_exit(status: int) -> str:
    """A status as of Child.exit_status, in words."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"was killed by signal {-status}"


def _endless_stdin(path: Path) -> int:
    """A FIFO that its reader itself holds open for writing, so that it never sees the end."""
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR | os.O_CLOEXEC)


# The end of a program's log, for messages about why it ended.
def log_tail(log: Path, lines: int = 12) -> tuple[str, ...]:
    """The last non-empty lines of a log, however long it is, without commands to a terminal."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
        text = _CONTROLS.sub("", file.read().decode(errors="replace"))
    return tuple(deque((line for line in text.splitlines() if line.strip()), maxlen=lines))


def log_ending(log: Path) -> str:
    """The last lines as the end of a sentence, each on a line of its own."""
    try:
        tail = "".join(f"\n    {line}" for line in log_tail(log))
    except OSError as error:
        return f"; its log cannot be read: {error.strerror or error}"
    return f"; its log ends with:{tail}" if tail else "; it logged nothing"


def wait_until(
    condition: Callable[[], bool],
    timeout_s: float,
    *,
    every_s: float = 0.02,
    check: Callable[[], None] | None = None,
) -> bool:
    """Whether it is true within the timeout; looked at first at once, then every so often.

    `check` is called in between, and raises where it cannot come true any more.
    """
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        if check is not None:
            check()
        if time.monotonic() > deadline_s:
            return False
        time.sleep(every_s)
    return True


# Not where the user happens to be: python -m would import modules from there.
WORKING_DIRECTORY = "/"


def module_argv(module: str, *arguments: str) -> tuple[str, ...]:
    """The command line of `python -m module`; to be started in WORKING_DIRECTORY."""
    return (sys.executable, "-m", module, *arguments)


def module_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` with this package found before any other of its name."""
    root = str(Path(__file__).parents[3])
    paths = [root, *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, "PYTHONPATH": os.pathsep.join(paths)}


# A host that is off, or behind a firewall that drops packets, is waited for minutes otherwise:
# as long as the kernel repeats its SYN (tcp_syn_retries, 127 s).
CONNECT_TIMEOUT_S = 15
# As ssh takes it; never anything that it would take for an option.
_DESTINATION = r"^[A-Za-z0-9_][A-Za-z0-9_.@:-]{0,254}$"

_OPTIONS = (
    "-T",
    # It must not prompt for a password: there is no one to answer.
    *("-o", "BatchMode=yes"),
    *("-o", f"ConnectTimeout={CONNECT_TIMEOUT_S}"),
    # Root on a host under test could use our keys elsewhere, or our display, as long
    # as the connection lasts; ssh's own configuration may forward both.
    *("-o", "ForwardAgent=no"),
    *("-o", "ForwardX11=no"),
    *("-o", "ClearAllForwardings=yes"),
)


def is_destination(text: str) -> bool:
    """Whether it is a host as ssh takes it, with or without a user."""
    return re.fullmatch(_DESTINATION, text) is not None


def over_ssh(destination: str, *command: str) -> tuple[str, ...]:
    """`command` on that host; its words must need no quoting by the shell there."""
    if not is_destination(destination):
        raise ValueError(f"{destination!r} is not a valid ssh destination")
    return ("ssh", *_OPTIONS, "--", destination, *command)
