"""A stand-in for ssh, and the captures that it answers with."""

import os
from pathlib import Path

import pytest

CAPTURES = Path(__file__).parents[1] / "captures"


class SshStandIn:
    """An ssh on PATH that does what `does`, a shell script, with `$host` and the command in $@."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._program = folder / "ssh"
        self.does('exec "$@"')
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    @property
    def requested(self) -> list[list[str]]:
        """The arguments of each call, in words."""
        noted = self.folder / "requested"
        return [line.split() for line in noted.read_text().splitlines()] if noted.exists() else []

    def does(self, script: str) -> None:
        """From now on."""
        self._program.write_text(
            f'#!/bin/sh\necho "$@" >>{self.folder}/requested\n'
            f'while [ "$1" != -- ]; do shift; done; host=$2; shift 2\n{script}\n'
        )
        self._program.chmod(0o755)

    def answers(self, **systems: str) -> None:
        """Each host with the capture of a system of tests.unit.tune.captures; others refuse."""
        known = "".join(
            f"{host}) exec cat {CAPTURES / f'{system}.tar.gz'};;\n"
            for host, system in systems.items()
        )
        self.does(f'case $host in\n{known}*) echo "ssh: no route to $host" >&2; exit 255;;\nesac')
