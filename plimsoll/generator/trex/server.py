"""A TRex of the user's, started for one run: its configuration, its process, its end."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import yaml

from plimsoll.errors import InputError, MachineError
from plimsoll.generator.generator_plan import Launch
from plimsoll.generator.interface import GeneratorDied
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.processes.child import Child, describe_exit, wait_until

SERVER = "_t-rex-64"
# Where its client library lies in its tree.
LIBRARY = Path("automation/trex_control_plane/interactive")
_END_PATIENCE_S = 10.0
# Of the vdev drivers, those whose ports are the same in any network namespace.
_ANYWHERE = ("net_memif", "net_vhost", "net_virtio_user", "net_ring", "net_null")
_MEGABYTES = 1024
# The times are LOWEND_SHORT_SLEEP_SEC and LOWEND_LONG_SLEEP_SEC of its sources (v3.08).
ONE_CPU_NOTE = (
    "TRex: all of its threads share one CPU (low_end), so they sleep: its receiver looks every 0.1 "
    "ms where there is traffic and every 1 ms where there is none, which is in the latencies, and "
    "frames leave in bursts"
)
# In /proc/net/tcp.
_LISTENING = "0A"


@dataclass(frozen=True)
class StartedTrex:
    """The process, and the words that lead into its network namespace."""

    child: Child
    enter: tuple[str, ...]
    notes: tuple[str, ...]

    def listens(self, port: int) -> bool:
        """Whether the process's network namespace has a listener on a TCP port."""
        sockets = Path(f"/proc/{self.child.pid}/net/tcp").read_text().splitlines()[1:]
        return any(
            words[1].endswith(f":{port:04X}") and words[3] == _LISTENING
            for words in (line.split() for line in sockets)
        )

    def check(self) -> None:
        """Raise GeneratorDied where it has ended."""
        status = self.child.exit_status()
        if status is not None:
            tail = "".join(f"\n    {line}" for line in self.child.log_tail())
            raise GeneratorDied(
                f"TRex (pid {self.child.pid}) {describe_exit(status)}; its log ends with:{tail}",
                where="generator",
                remedy="fix what its log names, and start again",
            )


def start_trex(
    tree: Path, launch: Launch, cpus: Sequence[int], ports: tuple[int, int], undo: ExitStack
) -> StartedTrex:
    """Start TRex on the launch's ports; `undo` ends it. Raises InputError and MachineError.

    TRex listens on all addresses. Where its ports do not lie in this network namespace it is
    given one of its own, which nothing leads to.
    """
    assert launch.ledger is not None  # noqa: S101 - the settings have seen to it
    ledger = launch.ledger
    program = tree / SERVER
    if not os.access(program, os.X_OK):
        raise InputError(
            f"no {SERVER} in {tree}",
            where="generator.tree",
            remedy="name the folder of a TRex release, or `scripts` of its tree once it is built",
        )
    configuration = ledger.directory / "trex.yaml"
    configuration.write_text(yaml.safe_dump([trex_configuration(launch.devargs, cpus, ports)]))
    enter, note = _namespace(launch, undo)
    child = Child.start(
        (
            *enter,
            *("env", "-C", str(tree), f"LD_LIBRARY_PATH={tree / 'so' / 'x86_64'}:{tree}"),
            str(program),
            *("-i", "--no-scapy-server", "--iom", "0", "--no-key", "--hdrh"),
            *("--cfg", str(configuration), "-c", str(max(1, len(cpus) - 2))),
        ),
        log=ledger.directory / "trex.log",
        environment=ledger.environment,
    )
    undo.callback(child.end, _END_PATIENCE_S)
    ledger.note_process(SERVER, child.identity)
    notes = (*note, *((ONE_CPU_NOTE,) if len(cpus) == 1 else ()))
    return StartedTrex(child, enter, notes)


def trex_configuration(
    devargs: Sequence[str], cpus: Sequence[int], ports: tuple[int, int]
) -> dict[str, object]:
    """Its configuration file: on one CPU all of its threads share it, as on a small machine.

    Of three and more the first is its master's, the second receives, and the rest send.
    """
    sync, events = ports
    interfaces = [f"--vdev={each}" if each.startswith("net_") else each for each in devargs]
    # TRex takes ports by pairs.
    interfaces += ["dummy"] * (len(interfaces) % 2)
    macs = [[2, 0, 0, 0, 0, number] for number in range(len(interfaces))]
    port_info = [{"src_mac": mac, "dest_mac": macs[number ^ 1]} for number, mac in enumerate(macs)]
    configuration: dict[str, object] = {
        "version": 2,
        "interfaces": interfaces,
        "port_limit": len(interfaces),
        "port_info": port_info,
        "prefix": "plimsoll",
        "zmq_rpc_port": sync,
        "zmq_pub_port": events,
        "limit_memory": _MEGABYTES,
    }
    if len(cpus) == 1:
        return {**configuration, "low_end": True, "low_end_core": cpus[0]}
    master, receiver, *senders = cpus
    platform = {
        "master_thread_id": master,
        "latency_thread_id": receiver,
        "dual_if": [{"socket": 0, "threads": senders}],
    }
    return {**configuration, "platform": platform}


def wait_until_ready(ready: Callable[[], bool], trex: StartedTrex, patience_s: float) -> None:
    """Return once TRex is `ready`. Raises GeneratorDied, and MachineError after the patience."""
    if not wait_until(ready, patience_s, every_s=0.1, check=trex.check):
        tail = "".join(f"\n    {line}" for line in trex.child.log_tail())
        raise MachineError(
            f"TRex was not ready within {patience_s:g} s; its log ends with:{tail}",
            where="generator",
            remedy="fix what its log names, and start again",
        )


def _namespace(launch: Launch, undo: ExitStack) -> tuple[tuple[str, ...], tuple[str, ...]]:
    assert launch.ledger is not None  # noqa: S101
    namespace: NetworkNamespace = launch.ledger.namespace
    apart = all(each.startswith(_ANYWHERE) for each in launch.devargs)
    if not apart or namespace.path.exists():
        return (), (
            "TRex listens on every address of this machine, without a password, while it runs",
        )
    namespace.create()
    undo.callback(namespace.remove)
    return namespace.enter(), ()
