"""An audit of a host over ssh; ssh itself is a stand-in that runs what it is given here."""

import os
import sys
from pathlib import Path

import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.host.over_ssh import over_ssh
from plimsoll.tune.host.remote_host import view_over_ssh

ROOT = Path(__file__).parents[4]


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """On PATH: an ssh that notes its arguments, and this checkout's plimsoll."""
    programs = {
        "ssh": f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\n'
        'while [ "$1" != -- ]; do shift; done; shift 2; exec "$@"\n',
        "plimsoll": f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m plimsoll.cli "$@"\n',
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def test_the_host_there_says_what_it_is(ssh: Path) -> None:
    view = view_over_ssh("ssh://root@node-1")
    assert view.read("/proc/sys/kernel/osrelease") == os.uname().release
    asked = (ssh / "asked").read_text().split()
    assert asked[:4] == ["-T", "-o", "BatchMode=yes", "--"]
    assert asked[4:] == ["root@node-1", "plimsoll", "tune", "capture", "--output", "-"]


def test_what_ssh_says_when_it_fails_is_in_the_error(ssh: Path) -> None:
    (ssh / "ssh").write_text("#!/bin/sh\necho 'Permission denied (publickey).' >&2\nexit 255\n")
    with pytest.raises(MachineError, match="Permission denied") as caught:
        view_over_ssh("ssh://node-1")
    assert caught.value.where == "--host node-1"
    assert "by key" in caught.value.remedy


def test_what_is_no_capture_is_refused(ssh: Path) -> None:
    (ssh / "ssh").write_text("#!/bin/sh\necho 'Welcome to node-1'\n")
    with pytest.raises(InputError):
        view_over_ssh("ssh://node-1")


@pytest.mark.parametrize("url", ["node-1", "ssh://", "ssh://-oProxyCommand=true", "ssh://a b"])
def test_what_is_no_host_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="is no host") as caught:
        view_over_ssh(url)
    assert caught.value.where == "--host"


def test_no_destination_becomes_an_option() -> None:
    with pytest.raises(ValueError, match="no destination"):
        over_ssh("-oProxyCommand=true", "true")
