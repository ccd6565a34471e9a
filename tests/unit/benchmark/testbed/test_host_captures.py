"""Captures of other hosts, on their way while a test bed comes up; ssh is a stand-in."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.benchmark.testbed.host_captures import HostCaptures, start_captures
from plimsoll.errors import InputError, MachineError
from plimsoll.host.cpus import allowed_cpus, parse_cpu_list
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.observe.agent.settings import UNOBSERVED, ObserveSettings
from tests.unit.tune.host.ssh_stand_in import SshStandIn

ONE = ObserveSettings.model_validate({"hosts": [{"ssh": "dut"}]})


@pytest.fixture
def ledger(state: Path) -> Iterator[Ledger]:
    assert state.is_dir()
    found = Ledger.create("test")
    yield found
    found.undo()


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SshStandIn:
    return SshStandIn(tmp_path, monkeypatch)


def test_ssh_runs_off_the_polled_cpus(ssh: SshStandIn, ledger: Ledger) -> None:
    allowed = allowed_cpus()
    if len(allowed) < 2:
        pytest.skip("one CPU alone is polled or it is not")
    ssh.does(f"grep Cpus_allowed_list /proc/self/status >{ssh.folder}/cpus")
    busy = {max(allowed)}
    captures = start_captures(ONE, busy, ledger)
    with closing(captures), pytest.raises(InputError):
        captures.of_hosts[0].view()
    assert [path.name for path in ledger.directory.iterdir()] == ["ledger.json"]
    ran_on = (ssh.folder / "cpus").read_text().split()[1]
    assert set(parse_cpu_list(ran_on)) == allowed - busy
    assert allowed_cpus() == allowed


def test_where_all_cpus_are_polled_it_is_over_before_they_are(
    ssh: SshStandIn, ledger: Ledger
) -> None:
    ssh.does(f"sleep 0.2; echo over >{ssh.folder}/over")
    with closing(start_captures(ONE, allowed_cpus(), ledger)):
        assert (ssh.folder / "over").exists()


def test_without_ssh_there_is_a_capture_that_says_so(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    captures = start_captures(ONE, (), ledger)
    with closing(captures), pytest.raises(MachineError, match="setpriv is missing"):
        captures.of_hosts[0].view()


def test_nothing_is_queried_where_nothing_is_observed(ssh: SshStandIn, ledger: Ledger) -> None:
    assert start_captures(UNOBSERVED, (), ledger) == HostCaptures()
    assert ssh.requested == []
