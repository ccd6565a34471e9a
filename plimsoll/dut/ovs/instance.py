"""An Open vSwitch of a lab's own: its database, its switch, and the tools that ask them.

Both run in a private directory with sockets of their own, and the switch in a network namespace
of its own, so that an Open vSwitch of the system's is neither seen nor touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from plimsoll.dut.lab import DutProcess, LabDied
from plimsoll.dut.needs import NeededProgram
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import run_program
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.processes.child import Child, Lifetime, wait_until

BRIDGE = "plimsoll0"
_PACKAGE = "openvswitch-switch (Debian, Ubuntu) or openvswitch (Fedora, RHEL)"
TOOLS = tuple(
    NeededProgram(name, _PACKAGE)
    for name in ("ovsdb-server", "ovsdb-tool", "ovs-vsctl", "ovs-ofctl", "ovs-appctl")
) + tuple(NeededProgram(name, "util-linux") for name in ("nsenter", "taskset"))
SWITCH = NeededProgram("ovs-vswitchd", _PACKAGE)
_SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
_START_TIMEOUT_S = 30.0
_ANSWER_TIMEOUT_S = 20
# A hundred thousand rules take seconds, on a busy machine many.
_BUNDLE_TIMEOUT_S = 180
_END_PATIENCE_S = 5.0
_POLL_S = 0.02
_LOG_OPTIONS = ("-vconsole:info", "-vsyslog:off", "-vfile:off")


class OvsInstance:
    """One ovsdb-server and one ovs-vswitchd, both noted in the ledger as they start."""

    def __init__(self, ledger: Ledger, namespace: NetworkNamespace, lifetime: Lifetime) -> None:
        self._ledger = ledger
        self._namespace = namespace
        self._lifetime: Lifetime = lifetime
        self._directory = ledger.directory / "ovs"
        self._children: list[Child] = []

    def start(self, switch: NeededProgram, cpus: str, other_config: Mapping[str, str]) -> None:
        """Start both; the switch runs on `cpus`, with `other_config` of the table Open_vSwitch.

        Raises MachineError and LabDied.
        """
        self._directory.mkdir(mode=0o700)
        database = self._directory / "conf.db"
        run_program(["ovsdb-tool", "create", str(database), str(_schema())])
        self._start_one("ovsdb-server", str(database), f"--remote=punix:{self._database}")
        self._wait(self._database.exists, "ovsdb-server did not make its socket")
        self.configure("--no-wait", "init")
        for name, value in other_config.items():
            setting = f"other_config:{name}={_quoted(value)}"
            self.configure("--no-wait", "set", "Open_vSwitch", ".", setting)
        within = ("nsenter", f"--net={self._namespace.path}", "taskset", "--cpu-list", cpus)
        self._start_one(switch.find(), f"unix:{self._database}", within=within)
        self._wait(self._control("ovs-vswitchd").exists, "ovs-vswitchd did not start")

    def configure(self, *words: str) -> str:
        """Run ovs-vsctl, which waits for the switch; what it prints. Raises MachineError."""
        timeout = f"--timeout={_ANSWER_TIMEOUT_S}"
        return self._run("ovs-vsctl", f"--db=unix:{self._database}", timeout, *words)

    def openflow(
        self, command: str, *words: str, version: str = "OpenFlow13", bridge: str = BRIDGE
    ) -> str:
        """Run ovs-ofctl on the bridge; what it prints. Raises MachineError."""
        within = self._openflow(_ANSWER_TIMEOUT_S, version)
        return self._run(*within, command, self._management(bridge), *words)

    def add_rules(self, rules: Iterable[str], bridge: str = BRIDGE) -> None:
        """Add OpenFlow rules, all or none (a bundle). Raises MachineError."""
        given = "".join(f"{rule}\n" for rule in rules)
        words = (*self._openflow(_BUNDLE_TIMEOUT_S), "--bundle", "add-flows")
        words = (*words, self._management(bridge), "-")
        self._run(*words, given=given, timeout_s=_BUNDLE_TIMEOUT_S + 10)

    def ask(self, *words: str) -> str:
        """Run ovs-appctl on the switch; what it prints. Raises MachineError."""
        timeout = f"--timeout={_ANSWER_TIMEOUT_S}"
        return self._run("ovs-appctl", timeout, f"--target={self._control('ovs-vswitchd')}", *words)

    def check(self) -> None:
        """Raise LabDied if one of the two has ended."""
        for child in self._children:
            if (status := child.exit_status()) is not None:
                raise LabDied(child, status)

    @property
    def switch_pid(self) -> int | None:
        """The pid of ovs-vswitchd; None before it was started."""
        named = [child.pid for child in self._children if child.name.startswith("ovs-vswitchd")]
        return named[0] if named else None

    @property
    def processes(self) -> tuple[DutProcess, ...]:
        """The switch, once it was started."""
        pid = self.switch_pid
        if pid is None:
            return ()
        return (DutProcess("ovs-vswitchd", pid, unixctl=self._control("ovs-vswitchd")),)

    def stop(self) -> None:
        """End both, the switch first. May be repeated."""
        for child in reversed(self._children):
            child.end(_END_PATIENCE_S)
        self._children.clear()

    def _management(self, bridge: str) -> str:
        return f"unix:{self._directory / bridge}.mgmt"

    @staticmethod
    def _openflow(timeout_s: int, version: str = "OpenFlow13") -> tuple[str, ...]:
        return ("ovs-ofctl", f"--timeout={timeout_s}", "-O", version)

    @property
    def _database(self) -> Path:
        return self._directory / "db.sock"

    def _control(self, name: str) -> Path:
        return self._directory / f"{name}.ctl"

    def _start_one(self, program: str, *words: str, within: tuple[str, ...] = ()) -> None:
        name = "ovs-vswitchd" if within else Path(program).name
        child = Child.start(
            (*within, program, *words, f"--unixctl={self._control(name)}", *_LOG_OPTIONS),
            log=self._ledger.directory / f"{name}.log",
            # Where the switch puts the sockets of its bridges.
            environment={**self._ledger.environment, "OVS_RUNDIR": str(self._directory)},
            lifetime=self._lifetime,
        )
        child.name = name
        self._ledger.note_process(name, child.identity)
        self._children.append(child)

    def _run(self, *argv: str, given: str = "", timeout_s: float = 30.0) -> str:
        try:
            return run_program(argv, given=given, timeout_s=timeout_s)
        except MachineError:
            # A tool that fails because the switch has died is not the news.
            for child in self._children:
                child.wait(timeout_s=0.1)
            self.check()
            raise

    def _wait(self, ready: Callable[[], bool], problem: str) -> None:
        if not wait_until(ready, _START_TIMEOUT_S, every_s=_POLL_S, check=self.check):
            raise MachineError(
                f"{problem} within {_START_TIMEOUT_S:g} s",
                where="lab",
                remedy="start it again on a less busy machine",
            )


def _schema() -> Path:
    if not _SCHEMA.exists():
        raise MachineError(
            f"{_SCHEMA} is missing", where="lab", remedy=f"install the package {_PACKAGE}"
        )
    return _SCHEMA


def _quoted(value: str) -> str:
    """As ovs-vsctl reads a string: in double quotes."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
