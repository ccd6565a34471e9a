"""A control plane of our own on this machine: etcd, API server, controllers, scheduler.

All four are the real programs; only the nodes are made up (fake_kubelet.py). It is for trying
things out, and for tests: what it measures is this machine under such a control plane.

Everything lies in one folder, and every process is in the ledger. etcd listens on sockets in that
folder, the API server on a port of loopback, by TLS and to one token alone.
"""

from __future__ import annotations

import base64
import json
import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import urllib3

from plimsoll.churn.control_plane.openshift_kinds import define_openshift_kinds
from plimsoll.churn.control_plane.programs import (
    CERTIFICATE,
    CERTIFICATES,
    COMPONENTS,
    ETCD_SOCKET,
    KUBECONFIG,
    LOOPBACK,
    SIGNING_KEY,
    TOKENS,
    Programs,
    apiserver_options,
    controllers_options,
    etcd_options,
    scheduler_options,
)
from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import ApiClient
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import find_program, run_program
from plimsoll.host.processes.child import (
    Child,
    describe_exit,
    module_argv,
    module_environment,
    wait_until,
)

FAKE_KUBELET = "fake-kubelet"
_ETCD, _APISERVER, _CONTROLLERS, _SCHEDULER = COMPONENTS
_TRIES = 3
# Some 10 s of a 3 GHz core; no one waits for ever.
_LONGEST_START_S = 300.0
_LONGEST_END_S = 3.0
_POLL_S = 0.2
_OPENSSL = "openssl"


@dataclass(frozen=True, slots=True)
class NodePlan:
    """How many nodes are made up, and how long their pods take to start, in s.

    `resources` are further ones that each node has, such as hugepages-1Gi.
    """

    nodes: int
    start_s: float
    resources: Mapping[str, str]


@dataclass(frozen=True)
class ControlPlane:
    """One that runs: how it is reached, and its processes by component."""

    kubeconfig: Path
    etcd_socket: Path
    children: Mapping[str, Child]

    @property
    def pids(self) -> dict[str, int]:
        """Of its processes, by component."""
        return {name: child.pid for name, child in self.children.items()}

    def check(self) -> None:
        """Raise MachineError where one of its processes has ended."""
        for child in self.children.values():
            _check(child)


@contextmanager
def control_plane(
    programs: Programs, folder: Path, ledger: Ledger, plan: NodePlan
) -> Iterator[ControlPlane]:
    """Bring one up in `folder`, which must not be there yet, and take it down in the end.

    Call it on a thread that lasts as long as it should: the kernel ties its processes to it.
    Raises MachineError.
    """
    starter = _Starter(programs, folder, ledger)
    with ExitStack() as stack:
        served = stack.enter_context(api_server(programs, folder, ledger))
        children = {
            **served.children,
            _CONTROLLERS: starter.start(stack, _CONTROLLERS, controllers_options()),
            _SCHEDULER: starter.start(stack, _SCHEDULER, scheduler_options()),
            FAKE_KUBELET: starter.start_fake_kubelet(stack, served.kubeconfig, plan),
        }
        plane = ControlPlane(served.kubeconfig, served.etcd_socket, children)
        _wait_for_nodes(ApiClient.of(None, str(plane.kubeconfig)), plane, plan.nodes)
        yield plane


@contextmanager
def api_server(
    programs: Programs, folder: Path, ledger: Ledger, more: Sequence[str] = ()
) -> Iterator[ControlPlane]:
    """The API server and its store alone, with `more` options; the rest is as above."""
    ledger.note_path(folder)
    folder.mkdir(mode=0o700)
    starter = _Starter(programs, folder, ledger)
    with ExitStack() as stack:
        token = write_tokens(folder)
        write_signing_key(folder)
        make_certificate_folder(folder)
        etcd = starter.start(stack, _ETCD, etcd_options())
        server, url = _start_server(starter, stack, more)
        kubeconfig = write_kubeconfig(folder, url, token)
        define_openshift_kinds(ApiClient.of(None, str(kubeconfig)))
        yield ControlPlane(kubeconfig, folder / ETCD_SOCKET, {_ETCD: etcd, _APISERVER: server})


class _Starter:
    """Starts programs that end with an exit stack, and are in the ledger until then."""

    def __init__(self, programs: Programs, folder: Path, ledger: Ledger) -> None:
        self.folder = folder
        self._programs = programs
        self._ledger = ledger

    def start(self, stack: ExitStack, name: str, options: Sequence[str]) -> Child:
        """A component."""
        environment = {**self._ledger.environment, "HOME": str(self.folder)}
        return self._start(stack, name, [self._programs[name], *options], environment)

    def start_fake_kubelet(self, stack: ExitStack, kubeconfig: Path, plan: NodePlan) -> Child:
        """Our own nodes."""
        resources = [f"{name}={amount}" for name, amount in plan.resources.items()]
        words = (str(kubeconfig), str(plan.nodes), str(plan.start_s), *resources)
        argv = module_argv("plimsoll.churn.control_plane.fake_kubelet", *words)
        return self._start(stack, FAKE_KUBELET, argv, module_environment(self._ledger.environment))

    def _start(
        self, stack: ExitStack, name: str, argv: Sequence[str], environment: Mapping[str, str]
    ) -> Child:
        child = Child.start(
            argv,
            log=self.folder / f"{name}.log",
            environment=environment,
            favoured=False,
            folder=self.folder,
        )
        stack.callback(child.end, _LONGEST_END_S)
        child.name = name
        self._ledger.note_process(name, child.identity)
        return child


def _start_server(starter: _Starter, stack: ExitStack, more: Sequence[str]) -> tuple[Child, str]:
    """Between finding a free port and taking it, another process may take it: it is tried again."""
    for _ in range(_TRIES):
        port = _free_port()
        with ExitStack() as attempt:
            server = starter.start(attempt, _APISERVER, [*apiserver_options(port), *more])
            if _becomes_ready(server, starter.folder, port):
                stack.push(attempt.pop_all())
                return server, f"https://{LOOPBACK}:{port}"
    raise MachineError(
        f"kube-apiserver does not start: {' / '.join(server.log_tail(3))}",
        where="cluster",
        remedy="look whether this machine has the memory and the time for it",
    )


def _becomes_ready(server: Child, folder: Path, port: int) -> bool:
    """Whether it comes to say that it is ready; not where it ends before."""
    certificate = folder / CERTIFICATE

    def answers_or_has_ended() -> bool:
        ended = server.exit_status() is not None
        return ended or (certificate.exists() and _is_ready(port, certificate))

    came = wait_until(answers_or_has_ended, _LONGEST_START_S, every_s=_POLL_S)
    return came and server.exit_status() is None


def _is_ready(port: int, certificate: Path) -> bool:
    try:
        # It may have been written by half.
        with urllib3.HTTPSConnectionPool(
            LOOPBACK, port, timeout=5, retries=False, ca_certs=str(certificate)
        ) as server:
            return server.request("GET", "/readyz").status == 200
    except (OSError, urllib3.exceptions.HTTPError):
        return False


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        return int(found.getsockname()[1])


def _wait_for_nodes(client: ApiClient, plane: ControlPlane, nodes: int) -> None:
    """Until all are there, ready, and without the taints that new nodes have."""

    def all_ready() -> bool:
        items, _ = client.items("/api/v1/nodes", "")
        return sum(not each["spec"].get("taints") for each in items) >= nodes

    if not wait_until(all_ready, _LONGEST_START_S, every_s=_POLL_S, check=plane.check):
        raise MachineError(
            f"the {nodes} nodes have not become ready",
            where="cluster.nodes",
            remedy="take fewer, or a machine that is less busy",
        )


def _check(child: Child) -> None:
    status = child.exit_status()
    if status is not None:
        raise MachineError(
            f"{child.name} {describe_exit(status)}: {' / '.join(child.log_tail(3))}",
            where="cluster",
            remedy="resume the run with --resume once what it says is set right",
        )


# Who may ask a control plane of our own, and by what it is known: tokens, keys, kubeconfig.
def write_tokens(folder: Path) -> str:
    """Write who may do everything, and return the token by which."""
    token = secrets.token_hex(16)
    _write(folder / TOKENS, f'{token},plimsoll,plimsoll,"system:masters"\n'.encode())
    return token


def write_signing_key(folder: Path) -> None:
    """Write the key by which the server signs tokens of service accounts. Raises MachineError."""
    program = find_program(_OPENSSL, _OPENSSL, where="cluster")
    words = ("genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
    _write(folder / SIGNING_KEY, run_program([program, *words], where="cluster").encode())


def make_certificate_folder(folder: Path) -> None:
    """Where the server puts the certificate that it makes for itself."""
    (folder / CERTIFICATES).mkdir(mode=0o700)


def write_kubeconfig(folder: Path, url: str, token: str) -> Path:
    """Write a kubeconfig for `token`, once the server has its certificate; its path."""
    trusted = base64.b64encode((folder / CERTIFICATE).read_bytes()).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "plimsoll",
        "clusters": [
            {"name": "plimsoll", "cluster": {"server": url, "certificate-authority-data": trusted}}
        ],
        "users": [{"name": "plimsoll", "user": {"token": token}}],
        "contexts": [{"name": "plimsoll", "context": {"cluster": "plimsoll", "user": "plimsoll"}}],
    }
    path = folder / KUBECONFIG
    _write(path, json.dumps(document).encode())
    return path


def _write(path: Path, content: bytes) -> None:
    path.touch(0o600)
    path.write_bytes(content)
