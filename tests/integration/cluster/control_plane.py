"""A real kube-apiserver and its etcd, as much of a cluster as an audit of objects can see.

There is no kubelet, scheduler or controller: what those would write, a test writes. Both
processes die with the test, whatever kills it.
"""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPSConnection
from pathlib import Path

from plimsoll.host.processes.child import with_parent_death_signal
from tests.free_ports import free_port
from tests.integration.cluster import kubeconfig
from tests.integration.cluster.credentials import LOOPBACK, Authority, TokenIssuer

ROOT = Path(__file__).parents[3]
# Where `make kube-apiserver` puts them.
BUILT = ROOT / "build" / "kube-apiserver"
ISSUER = "https://kubernetes.default.svc"
# Some 10 s of a 3 GHz core; no one waits for ever.
LONGEST_START_S = 300.0
LONGEST_END_S = 30.0
# Sockets in the folder, which is no one else's, rather than ports. etcd takes a host and a port
# for a file's name.
ETCD_SOCKET = "unix://etcd:1"
_PEER_SOCKET = "unix://peer:1"
ETCD_OPTIONS = [
    *("--name", "test", "--data-dir", "store", "--initial-cluster", f"test={_PEER_SOCKET}"),
    *("--listen-client-urls", ETCD_SOCKET, "--advertise-client-urls", ETCD_SOCKET),
    *("--listen-peer-urls", _PEER_SOCKET, "--initial-advertise-peer-urls", _PEER_SOCKET),
]
# Without a controller no namespace has the account that this plugin asks of each pod.
WITHOUT_NODES = ("--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount")
# Kubelets may do what concerns their own node; the server calls them as this client, by their
# addresses, for no one knows their names.
WITH_NODES = (
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--kubelet-client-certificate=kubelet-client.crt",
    "--kubelet-client-key=kubelet-client.key",
    "--kubelet-preferred-address-types=InternalIP",
)
_TRIES = 3


@dataclass(frozen=True)
class ServerParts:
    """The two programs."""

    kube_apiserver: Path
    etcd: Path


class CannotServe(Exception):
    """What is missing here, in words for a skipped test."""


def find_parts() -> ServerParts:
    """What `make kube-apiserver` left, else what is on PATH. Raises CannotServe."""
    found = {name: find_program(name) for name in ("kube-apiserver", "etcd")}
    if missing := [name for name, path in found.items() if path is None]:
        raise CannotServe(f"there is no {' and no '.join(missing)} (make kube-apiserver)")
    return ServerParts(*(path for path in found.values() if path is not None))


def find_program(name: str) -> Path | None:
    """Where it is: of what was built, else on PATH."""
    path = os.pathsep.join([str(BUILT), os.environ.get("PATH", os.defpath)])
    found = shutil.which(name, path=path)
    return Path(found) if found else None


class Program:
    """One that runs in `folder`, where its log is too."""

    def __init__(self, folder: Path, path: Path, options: list[str]) -> None:
        self._log = folder / f"{path.name}.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                with_parent_death_signal([str(path), *options]),
                cwd=folder,
                env={"HOME": str(folder), "PATH": os.environ.get("PATH", os.defpath)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def runs(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """Ask it to end, kill it where it does not, and wait until it is gone."""
        self._process.terminate()
        try:
            self._process.wait(LONGEST_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def last_words(self) -> str:
        return self._log.read_text(errors="replace")[-4000:]


@dataclass(frozen=True)
class ControlPlane:
    """A running server, and who may do what with it: the owner, by a client certificate, all."""

    url: str
    authority: Authority
    tokens: TokenIssuer
    processes: tuple[Program, ...]

    @property
    def port(self) -> int:
        """Where it is on loopback."""
        return int(self.url.rpartition(":")[2])

    def owners_kubeconfig(self) -> str:
        """A kubeconfig that may do everything."""
        return self.kubeconfig_of("owner", "system:masters")

    def kubeconfig_of(self, user: str, *groups: str) -> str:
        """A kubeconfig of that user, who may do what the groups may and is granted here."""
        identity = self.authority.for_user(user, groups)
        return kubeconfig.with_certificate(self.url, self.authority.certificate, identity)

    def kubeconfig_with(self, token: str) -> str:
        """A kubeconfig of the token's bearer."""
        return kubeconfig.with_token(self.url, self.authority.certificate, token)


@contextmanager
def control_plane(
    parts: ServerParts, folder: Path, more: Sequence[str] = WITHOUT_NODES
) -> Iterator[ControlPlane]:
    """A server with an empty store and `more` options. `folder` keeps its files and logs.

    Call it on the test's main thread, to whose life the processes are tied.
    """
    authority, tokens = Authority("test"), TokenIssuer(ISSUER)
    _write_credentials(folder, authority, tokens)
    etcd = Program(folder, parts.etcd, ETCD_OPTIONS)
    try:
        server, port = _start_server(parts, folder, more)
        try:
            yield ControlPlane(f"https://{LOOPBACK}:{port}", authority, tokens, (etcd, server))
        finally:
            server.end()
    finally:
        etcd.end()


def _start_server(parts: ServerParts, folder: Path, more: Sequence[str]) -> tuple[Program, int]:
    """Between finding a free port and taking it, another process may take it: so it is retried."""
    for _ in range(_TRIES):
        port = free_port()
        server = Program(folder, parts.kube_apiserver, [*_server_options(port), *more])
        if _becomes_ready(server, folder, port):
            return server, port
        server.end()
    raise AssertionError(f"kube-apiserver does not start: {server.last_words()}")


def _becomes_ready(server: Program, folder: Path, port: int) -> bool:
    """Whether it comes to say that it is ready; not where it ends before."""
    trusted = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    deadline = time.monotonic() + LONGEST_START_S
    while time.monotonic() < deadline and server.runs():
        if _is_ready(port, trusted):
            return True
        time.sleep(0.2)
    return False


def _is_ready(port: int, trusted: ssl.SSLContext) -> bool:
    connection = HTTPSConnection(str(LOOPBACK), port, timeout=5, context=trusted)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _write_credentials(folder: Path, authority: Authority, tokens: TokenIssuer) -> None:
    server = authority.for_server()
    client = authority.for_user("kube-apiserver-kubelet-client", ["system:masters"])
    (folder / "ca.crt").write_bytes(authority.certificate)
    (folder / "server.crt").write_bytes(server.certificate)
    (folder / "kubelet-client.crt").write_bytes(client.certificate)
    keys = {"server": server.key, "kubelet-client": client.key, "tokens": tokens.key}
    for name, key in ((f"{each}.key", key) for each, key in keys.items()):
        (folder / name).touch(0o600)
        (folder / name).write_bytes(key)


def _server_options(port: int) -> list[str]:
    return [
        *(f"--bind-address={LOOPBACK}", f"--advertise-address={LOOPBACK}"),
        *(f"--secure-port={port}", f"--etcd-servers={ETCD_SOCKET}"),
        *("--tls-cert-file=server.crt", "--tls-private-key-file=server.key"),
        "--client-ca-file=ca.crt",
        f"--service-account-issuer={ISSUER}",
        *("--service-account-key-file=tokens.key", "--service-account-signing-key-file=tokens.key"),
        "--service-cluster-ip-range=10.0.0.0/24",
        # Its own address is of no use to anybody, and the check of it takes a real one.
        "--endpoint-reconciler-type=none",
    ]
