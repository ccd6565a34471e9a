"""OVN between two nodes: its databases, northd, and on each node Open vSwitch and ovn-controller.

All of it is in private directories with sockets of their own; the system's is neither seen nor
touched. Open vSwitch forwards in its userspace datapath (datapath_type=netdev): no module of
the kernel's is needed, and it is slower than that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from plimsoll.churn.streams.pod import NetworkPod
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import find_program, run_program
from plimsoll.host.processes.child import Child, describe_exit, wait_until

_OVN_PACKAGE = "ovn-central and ovn-host (Debian, Ubuntu) or ovn (Fedora, RHEL)"
_OVS_PACKAGE = "openvswitch-switch (Debian, Ubuntu) or openvswitch (Fedora, RHEL)"
_SCHEMAS = {
    "nb": Path("/usr/share/ovn/ovn-nb.ovsschema"),
    "sb": Path("/usr/share/ovn/ovn-sb.ovsschema"),
    "switch": Path("/usr/share/openvswitch/vswitch.ovsschema"),
}
_PROGRAMS = {
    **dict.fromkeys(("ovn-northd", "ovn-controller", "ovn-nbctl"), _OVN_PACKAGE),
    **dict.fromkeys(("ovsdb-server", "ovsdb-tool", "ovs-vsctl", "ovs-vswitchd"), _OVS_PACKAGE),
}
_SWITCH = "pods"
_UPLINK, _INTEGRATION = "br-nic", "br-int"
# A Geneve header with OVN's option, and its outer Ethernet, IPv4 and UDP headers.
_POD_MTU = 1400
_LONGEST_S = 60.0
_POLL_S = 0.1
_ANSWER_S = 20
_END_PATIENCE_S = 3.0
_LOG_OPTIONS = ("-vconsole:info", "-vsyslog:off", "-vfile:off")


class Ovn:
    """One OVN over two nodes whose NICs are joined; every process is noted in the ledger."""

    def __init__(
        self,
        ledger: Ledger,
        nodes: tuple[NetworkPod, NetworkPod],
        nic: str,
        addresses: tuple[str, str],
    ) -> None:
        """Raises MachineError where a program is missing."""
        for name, package in _PROGRAMS.items():
            find_program(name, package, where="streams")
        self._ledger = ledger
        self._nodes = nodes
        self._nic = nic
        self._addresses = addresses
        self._folder = _free_folder(ledger.directory)
        self._children: list[Child] = []
        self._ports: list[str] = []

    def start(self) -> None:
        """Bring all of it up, with one logical switch. Raises MachineError."""
        self._folder.mkdir(mode=0o700)
        for name in ("nb", "sb"):
            self._start_database(name, self._folder)
        self._start(
            ("ovn-northd", f"--ovnnb-db={self._socket('nb')}", f"--ovnsb-db={self._socket('sb')}"),
            "northd",
            self._folder,
        )
        for number, (node, address) in enumerate(
            zip(self._nodes, self._addresses, strict=True), start=1
        ):
            self._start_node(number, node, address)
        self._north("ls-add", _SWITCH)

    def attach(
        self, node: NetworkPod, pod: NetworkPod, side: int, number: int, address: str
    ) -> None:
        """Give a pod the interface eth0, a port of the logical switch. Raises MachineError."""
        name, near = f"pod-{side}-{number}", f"v{side}-{number}"
        mac = f"02:77:00:00:{side:02x}:{number:02x}"
        mtu = f"mtu {_POD_MTU}"
        node.ip(
            f"link add {near} {mtu} type veth peer name eth0 {mtu} netns {pod.pid}",
            f"link set {near} up",
        )
        pod.ip(
            f"link set eth0 address {mac}",
            f"address add {address}/16 dev eth0",
            "link set eth0 up",
        )
        pod.finish_frames("eth0")
        interface = ("set", "interface", near, f"external_ids:iface-id={name}")
        self._configure(side, "add-port", _INTEGRATION, near, "--", *interface)
        self._north("lsp-add", _SWITCH, name)
        self._north("lsp-set-addresses", name, f"{mac} {address}")
        self._ports.append(name)

    def wait_until_bound(self) -> None:
        """Until every port is up, and the flows of the last change are in. Raises MachineError."""
        self._north(f"--timeout={int(_LONGEST_S)}", "--wait=hv", "sync")
        for name in self._ports:
            self._wait(partial(self._is_up, name), f"the port {name} does not come up")

    def check(self) -> None:
        """Raise MachineError where one of its processes has ended."""
        for child in self._children:
            if (status := child.exit_status()) is not None:
                raise MachineError(
                    f"{child.name} {describe_exit(status)}: {' / '.join(child.log_tail(2))}",
                    where="streams",
                    remedy="resume the run with --resume",
                )

    def stop(self) -> None:
        """End all of it. May be repeated."""
        for child in reversed(self._children):
            child.end(_END_PATIENCE_S)
        self._children.clear()

    def _is_up(self, name: str) -> bool:
        return self._north("lsp-get-up", name).strip() == "up"

    def _start_node(self, number: int, node: NetworkPod, address: str) -> None:
        folder = self._node_folder(number)
        folder.mkdir(mode=0o700)
        self._start_database("switch", folder)
        self._configure(number, "--no-wait", "init")
        settings = {
            "system-id": f"node-{number}",
            "ovn-remote": self._socket("sb"),
            "ovn-encap-type": "geneve",
            "ovn-encap-ip": address,
            "ovn-bridge-datapath-type": "netdev",
        }
        for name, value in settings.items():
            self._configure(
                number, "--no-wait", "set", "Open_vSwitch", ".", f'external_ids:{name}="{value}"'
            )
        switch = node.enter("ovs-vswitchd", f"unix:{folder / 'switch.sock'}")
        self._start(switch, f"vswitchd-{number}", folder)
        # Its tunnels leave by the address of a bridge of its own, which has the NIC as a port.
        self._configure(
            number,
            *("add-br", _UPLINK, "--", "set", "bridge", _UPLINK, "datapath_type=netdev"),
            *("--", "add-port", _UPLINK, self._nic),
        )
        node.ip(f"address add {address}/24 dev {_UPLINK}", f"link set {_UPLINK} up")
        node.finish_frames(_UPLINK)
        controller = node.enter("ovn-controller", f"unix:{folder / 'switch.sock'}")
        self._start(controller, f"controller-{number}", folder)
        self._wait(lambda: self._has_bridge(number), "ovn-controller makes no bridge")

    def _has_bridge(self, number: int) -> bool:
        return _INTEGRATION in self._configure(number, "list-br").split()

    def _start_database(self, name: str, folder: Path) -> None:
        schema = _SCHEMAS[name]
        if not schema.exists():
            raise MachineError(
                f"{schema} is missing", where="streams", remedy=f"install {_OVN_PACKAGE}"
            )
        database, remote = folder / f"{name}.db", folder / f"{name}.sock"
        run_program(["ovsdb-tool", "create", str(database), str(schema)], where="streams")
        argv = ("ovsdb-server", str(database), f"--remote=punix:{remote}")
        self._start(argv, f"ovsdb-{name}-{folder.name}", folder)
        self._wait(remote.exists, f"ovsdb-server makes no socket for {name}")

    def _start(self, argv: tuple[str, ...], name: str, folder: Path) -> None:
        # ovn-controller knows no such option, and has its socket in OVN_RUNDIR.
        known = "ovn-controller" not in argv
        control = (f"--unixctl={folder / f'{name}.ctl'}",) if known else ()
        child = Child.start(
            (*argv, *control, *_LOG_OPTIONS),
            log=folder / f"{name}.log",
            environment={
                **self._ledger.environment,
                "OVS_RUNDIR": str(folder),
                "OVN_RUNDIR": str(folder),
            },
            favoured=False,
        )
        child.name = name
        self._ledger.note_process(name, child.identity)
        self._children.append(child)

    def _configure(self, number: int, *words: str) -> str:
        socket = self._node_folder(number) / "switch.sock"
        argv = ("ovs-vsctl", f"--db=unix:{socket}", f"--timeout={_ANSWER_S}", *words)
        return run_program(argv, where="streams")

    def _north(self, *words: str) -> str:
        argv = ("ovn-nbctl", f"--db={self._socket('nb')}", *words)
        return run_program(argv, where="streams", timeout_s=_LONGEST_S + 10)

    def _socket(self, name: str) -> str:
        return f"unix:{self._folder / f'{name}.sock'}"

    def _node_folder(self, number: int) -> Path:
        return self._folder / f"n{number}"

    def _wait(self, ready: Callable[[], bool], problem: str) -> None:
        if not wait_until(ready, _LONGEST_S, every_s=_POLL_S, check=self.check):
            raise MachineError(
                problem, where="streams", remedy="start it again on a less busy machine"
            )


def _free_folder(parent: Path) -> Path:
    """Each cell has one of its own."""
    number = 1
    while (folder := parent / f"ovn{number}").exists():
        number += 1
    return folder
