"""The lab `vpp`: its settings, and what is refused before anything is started."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from plimsoll.dut.labs.vpp import VppSettings
from plimsoll.errors import InputError, MachineError
from tests.worded.says import Says


@pytest.fixture
def has_vpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both programs on PATH, and two CPUs to run on."""
    for name in ("vpp", "vppctl"):
        (tmp_path / name).touch(mode=0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("plimsoll.dut.labs.vpp.allowed_cpus", lambda: frozenset({0, 1}))


def test_routes_need_a_router(says: Says) -> None:
    with pytest.raises(ValidationError) as caught:
        VppSettings(forwarding="bridge", routes=1000)
    assert caught.value == says("forwarding: bridge")
    assert VppSettings(forwarding="route", routes=1000).route_count == 1002


def test_it_needs_no_root(says: Says) -> None:
    assert VppSettings.needs().in_words() == says("1")


@pytest.mark.usefixtures("has_vpp")
def test_a_machine_with_two_cpus_will_do() -> None:
    assert VppSettings(cpu=1).check_machine().bps is None


def test_without_vpp_its_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError) as caught:
        VppSettings().check_machine()
    assert caught.value == says()


@pytest.mark.usefixtures("has_vpp")
def test_a_main_thread_without_a_cpu_is_refused(
    monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr("plimsoll.dut.labs.vpp.allowed_cpus", lambda: frozenset({1}))
    with pytest.raises(MachineError) as caught:
        VppSettings(cpu=1).check_machine()
    assert caught.value == says("lab.cpu", "1")


@pytest.mark.usefixtures("has_vpp")
def test_a_socket_that_cannot_be_is_refused(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        VppSettings(socket=Path("/proc/nonexistent/m.sock")).check_machine()
    assert caught.value == says("lab.socket")
