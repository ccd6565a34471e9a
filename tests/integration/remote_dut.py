"""Another host for tests: a real sshd, in namespaces of its own, to which a real ssh talks.

No port listens: ssh starts sshd as its proxy command. The host has its own name, users and
kernel command line, and this machine's CPUs and kernel otherwise.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What `make` has unpacked; else what is installed.
_UNPACKED = ROOT / "build/sshd"
_PROGRAMS = {"plimsoll": "plimsoll.cli", "plimsoll-observe": "plimsoll.observe"}


class RemoteDut:
    """The host `dut`, and the host `gone`, which cannot be reached; `path` has their ssh."""

    name = "dut"

    def __init__(self, folder: Path, *, network: bool = False) -> None:
        """With a `network` of its own it has no interface of this machine's."""
        self._folder = folder
        self._namespaces = ("--uts", "--mount", *(("--net",) if network else ()))
        self._sshd = _sshd()
        self.path = folder / "client"
        self._write_keys()
        self._write_server()
        self._write_client()

    def boots_with(self, arguments: str) -> None:
        """The kernel command line that it shows from the next connection on."""
        self._write("cmdline", f"{arguments}\n")

    def program(self, name: str, script: str) -> None:
        """What the host has by that name on PATH, in shell."""
        self._write(f"bin/{name}", f"#!/bin/sh\n{script}\n", mode=0o755)

    def command(self, name: str) -> str:
        """How a program of Plimsoll's is run there, in shell."""
        return f'env PYTHONPATH={ROOT} {sys.executable} -m {_PROGRAMS[name]} "$@"'

    def _write_keys(self) -> None:
        for name in ("host", "user"):
            keygen = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self._folder / name)
            subprocess.run(keygen, check=True)

    def _write_server(self) -> None:
        folder = self._folder
        self._write(
            "passwd", "root:x:0:0::/root:/bin/sh\nsshd:x:65530:65534::/run/sshd:/bin/false\n"
        )
        self._write("shadow", "root:*:1::::::\n")
        self._write(
            "sshd_config",
            f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nStrictModes no\n"
            f"UsePAM no\nPermitRootLogin yes\nSetEnv PATH={folder}/bin:/usr/bin:/bin\n",
        )
        for name in _PROGRAMS:
            self.program(name, f"exec {self.command(name)}")
        own = "".join(
            f"mount --bind {folder}/{name} {place}\n"
            for name, place in (
                ("passwd", "/etc/passwd"),
                ("shadow", "/etc/shadow"),
                ("cmdline", "/proc/cmdline"),
            )
        )
        libraries = ":".join(str(path) for path in _UNPACKED.glob("usr/lib/*-linux-gnu"))
        self._write(
            "serve",
            f"#!/bin/sh\nset -e\nhostname {self.name}\n{own}"
            f"mount -t tmpfs tmpfs /run\nmkdir /run/sshd\nLD_LIBRARY_PATH={libraries} "
            f"exec {self._sshd} -i -e -f {folder}/sshd_config 2>>{folder}/log\n",
            mode=0o755,
        )

    def _write_client(self) -> None:
        folder = self._folder
        self._write(
            "ssh_config",
            f"Host {self.name}\n ProxyCommand unshare {' '.join(self._namespaces)} {folder}/serve\n"
            "Host gone\n ProxyCommand false\n"
            f"Host *\n User root\n IdentityFile {folder}/user\n IdentitiesOnly yes\n"
            " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n",
        )
        ssh = f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n'
        self._write("client/ssh", ssh, mode=0o755)

    def _write(self, name: str, text: str, mode: int = 0o600) -> None:
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)


def _sshd() -> str:
    """By its whole path, which it needs to start itself anew. Skips the test without one."""
    if os.geteuid() != 0:
        pytest.skip("only root makes a host of its own name and files")
    for tool in ("ssh", "ssh-keygen", "unshare"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    places = f"{_UNPACKED / 'usr/sbin'}:{os.environ['PATH']}:/usr/sbin"
    found = shutil.which("sshd", path=places)
    if found is None:
        pytest.skip("there is no sshd: make sshd fetches it")
    return found
