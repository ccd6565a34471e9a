"""A stand-in for a pod's network: a namespace of its own, held by a process that sleeps."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import find_program, run_program
from plimsoll.host.namespaces.network_namespace import run_within
from plimsoll.host.ports.ethtool import turn_off_transmit_checksums
from plimsoll.host.processes.child import Child

_LONGEST_START_S = 30.0
_POLL_S = 0.02
_PACKAGE = "util-linux"
_IP_PACKAGE = "iproute2"
_END_PATIENCE_S = 1.0


@dataclass(frozen=True)
class NetworkPod:
    """A network namespace without a name, which is gone with the process that holds it."""

    name: str
    child: Child

    @property
    def pid(self) -> int:
        """Of who holds it; `ip` takes it for the namespace's name."""
        return self.child.pid

    @property
    def path(self) -> Path:
        """What a program opens to enter it."""
        return Path(f"/proc/{self.pid}/ns/net")

    def enter(self, *argv: str) -> tuple[str, ...]:
        """The command that runs `argv` in it."""
        return ("nsenter", f"--net={self.path}", "--", *argv)

    def ip(self, *lines: str) -> None:
        """Run `ip` commands in it. Raises MachineError."""
        program = find_program("ip", _IP_PACKAGE, where="streams")
        given = "".join(f"{line}\n" for line in lines)
        run_program(self.enter(program, "-batch", "-"), given=given, where="streams")

    def finish_frames(self, interface: str) -> None:
        """Have the interface's frames leave with their checksums, none of them too large."""
        run_within(self.path, lambda: turn_off_transmit_checksums(interface))


class NetworkPods:
    """Makes pods, each noted in the ledger, and ends them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._made: list[NetworkPod] = []

    @property
    def ledger(self) -> Ledger:
        """Where all is noted."""
        return self._ledger

    def make(self, name: str) -> NetworkPod:
        """A pod whose loopback is up, and which speaks no IPv6. Raises MachineError."""
        unshare = find_program("unshare", _PACKAGE, where="streams")
        find_program("nsenter", _PACKAGE, where="streams")
        child = Child.start(
            (unshare, "--net", "--", "sleep", "infinity"),
            log=self._ledger.directory / f"pod-{name}.log",
            environment=self._ledger.environment,
            favoured=False,
        )
        self._ledger.note_process(f"pod {name}", child.identity)
        pod = NetworkPod(name, child)
        self._made.append(pod)
        _wait_until_apart(pod)
        run_program(
            pod.enter("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6 || :"),
            where="streams",
        )
        pod.ip("link set lo up")
        return pod

    def end(self) -> None:
        """End all of them; their namespaces go with them. May be repeated."""
        for pod in reversed(self._made):
            pod.child.end(_END_PATIENCE_S)
        self._made.clear()


def _wait_until_apart(pod: NetworkPod) -> None:
    """Until the process has a namespace of its own."""
    own = os.readlink("/proc/self/ns/net")
    deadline = time.monotonic() + _LONGEST_START_S
    while pod.child.exit_status() is None and time.monotonic() < deadline:
        # As long as setpriv and unshare have not come so far it has ours.
        if _namespace(pod) not in (None, own) and _sleeps(pod):
            return
        time.sleep(_POLL_S)
    raise MachineError(
        f"no network namespace can be made: {' / '.join(pod.child.log_tail(2))}",
        where="streams",
        remedy="run as root, or with CAP_SYS_ADMIN and CAP_NET_ADMIN",
    )


def _namespace(pod: NetworkPod) -> str | None:
    try:
        return os.readlink(pod.path)
    except OSError:
        return None


def _sleeps(pod: NetworkPod) -> bool:
    return Path(f"/proc/{pod.pid}/comm").read_text().strip() == "sleep"
