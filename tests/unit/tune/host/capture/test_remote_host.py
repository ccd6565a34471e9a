"""An audit of a host over ssh; ssh itself is a stand-in that runs what it is given here."""

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.host.processes.child import over_ssh
from plimsoll.tune.host.capture import open_capture
from plimsoll.tune.host.capture.open_capture import RemoteCapture, view_over_ssh
from tests.unit.tune.host.ssh_stand_in import SshStandIn
from tests.worded.says import Says

ROOT = Path(__file__).parents[5]


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SshStandIn:
    """With this checkout's plimsoll on PATH behind it."""
    plimsoll = tmp_path / "plimsoll"
    plimsoll.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m plimsoll.cli "$@"\n'
    )
    plimsoll.chmod(0o755)
    return SshStandIn(tmp_path, monkeypatch)


def captured(most_s: float = 60) -> RemoteCapture:
    return RemoteCapture("dut", most_s=most_s, where="observe.hosts: dut")


def test_the_host_there_says_what_it_is(ssh: SshStandIn) -> None:
    view = view_over_ssh("ssh://root@node-1")
    assert view.read("/proc/sys/kernel/osrelease") == os.uname().release
    assert view.where == "ssh://root@node-1"
    (requested,) = ssh.requested
    capture = ["plimsoll", "tune", "capture", "--output", "-"]
    assert requested[requested.index("--") + 1 :] == ["root@node-1", "timeout", "120", *capture]


def test_what_ssh_says_when_it_fails_is_in_the_error(ssh: SshStandIn, says: Says) -> None:
    ssh.does("printf 'Banner\\nPermission denied\\033[2J (publickey).\\n' >&2; exit 255")
    with pytest.raises(MachineError) as caught:
        view_over_ssh("ssh://node-1")
    # What drives a terminal does not reach it.
    assert caught.value == says("ssh", "denied[2J")
    assert caught.value.where == "--host node-1"
    assert "by key" in caught.value.remedy


def test_what_is_no_capture_is_refused(ssh: SshStandIn, says: Says) -> None:
    ssh.does("echo 'Welcome to node-1'")
    with pytest.raises(InputError) as caught:
        view_over_ssh("ssh://node-1")
    assert caught.value == says("--host node-1")
    assert caught.value.where == "--host node-1"


@pytest.mark.parametrize("url", ["node-1", "ssh://", "ssh://-oProxyCommand=true", "ssh://a b"])
def test_what_is_no_host_is_refused(url: str, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        view_over_ssh(url)
    assert caught.value == says("host")
    assert caught.value.where == "--host"


def test_no_destination_becomes_an_option(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        over_ssh("-oProxyCommand=true", "true")
    assert caught.value == says("-oProxyCommand=true")


def test_no_one_waits_longer_than_was_said(ssh: SshStandIn, says: Says) -> None:
    ssh.does("exec sleep 1000")
    with closing(captured(most_s=0.5)) as capture:
        with pytest.raises(MachineError) as caught:
            capture.view()
        assert caught.value == says("0.5")
        assert caught.value.where == "observe.hosts: dut"


def test_the_time_may_be_up_there_first(ssh: SshStandIn) -> None:
    ssh.does("exit 124")
    with closing(captured()) as capture, pytest.raises(MachineError, match="within 60 s"):
        capture.view()


def test_what_is_larger_than_any_capture_is_cut_off(
    ssh: SshStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_capture, "MAX_BYTES", 1 << 20)
    ssh.does("exec cat /dev/zero")
    with closing(captured()) as capture, pytest.raises(MachineError, match="more than 1 MiB"):
        capture.view()


def test_it_comes_while_no_one_waits_and_goes_when_no_one_needs_it(ssh: SshStandIn) -> None:
    """ssh says that it runs before anybody asks for the view, and is gone after `close`."""
    pipe = ssh.folder / "pipe"
    os.mkfifo(pipe)
    ssh.does(f"echo $$ >{pipe}; exec sleep 1000")
    capture = captured()
    pid = int(pipe.read_text())
    capture.close()
    capture.close()
    assert not Path(f"/proc/{pid}").exists()


def test_without_setpriv_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError) as caught:
        captured()
    assert caught.value == says("PATH")
