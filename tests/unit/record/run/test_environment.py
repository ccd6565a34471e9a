from pathlib import Path

import pytest

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.environment import load_environment, read_environment
from tests.worded.says import Says

FILES = {
    "proc/sys/kernel/hostname": "bench\n",
    "proc/sys/kernel/osrelease": "6.1.0\n",
    "proc/cmdline": "ro isolcpus=2-3\n",
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Fast CPU @ 3: GHz\n\nmodel name\t: Other\n",
    "proc/meminfo": "MemTotal:       2048 kB\nMemFree: 1 kB\n",
    "proc/self/status": "Name:\tcat\nCpus_allowed_list:\t0-3\n",
    "sys/devices/system/cpu/online": "0-3\n",
    "sys/devices/system/cpu/isolated": "\n",
    "sys/devices/system/cpu/nohz_full": "  (null)\n",
    "sys/devices/system/cpu/smt/active": "0\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/node/online": "0\n",
    "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "512\n",
    "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "128\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
}


def test_facts_of_a_host(tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = read_environment({"dpdk": "22.11"}, proc=tmp_path / "proc", sys=tmp_path / "sys")
    assert found.host == "bench"
    assert found.cmdline == "ro isolcpus=2-3"
    assert found.cpu_model == "Fast CPU @ 3: GHz"
    assert (found.cpus_online, found.cpus_isolated, found.cpus_nohz_full) == ("0-3", "", "")
    assert found.cpus_allowed == "0-3"
    assert found.smt_active is False
    assert found.governors == {"performance": 2}
    assert found.memory_kib == 2048
    assert [pages.model_dump() for pages in found.hugepages] == [
        {"size_kib": 2048, "total": 512, "free": 128}
    ]
    assert found.clocksource == "tsc"
    assert found.versions == {"dpdk": "22.11"}


def test_secrets_of_the_command_line_are_not_recorded(tmp_path: Path) -> None:
    """Names of arguments: dracut.cmdline(7); values are made up."""
    (tmp_path / "cmdline").write_text(
        "ro isolcpus=2-3 rd.iscsi.password=hunter2 inst.ks=https://me:hunter2@example.org/ks.cfg\n"
    )
    found = read_environment({}, proc=tmp_path, sys=tmp_path)
    path = tmp_path / "environment.json"
    found.write(path)
    assert "hunter2" not in path.read_text()
    assert found.cmdline == "ro isolcpus=2-3 rd.iscsi.password=<hidden> inst.ks=<hidden>"


def test_secrets_of_older_records_are_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "environment.json"
    read_environment({}, proc=tmp_path, sys=tmp_path).write(path)
    path.write_text(path.read_text().replace('"cmdline": null', '"cmdline": "ro a.pw=hunter2"'))
    found = load_environment(path)
    assert found is not None
    assert found.cmdline == "ro a.pw=<hidden>"


def test_what_the_machine_does_not_tell_is_null(tmp_path: Path) -> None:
    found = read_environment({}, proc=tmp_path, sys=tmp_path).model_dump()
    known = {name: value for name, value in found.items() if value is not None}
    assert known == {
        "hugepages": (),
        "versions": {},
        "earlier_calibrations": (),
        "observed": (),
    }


def test_this_machine_can_be_read_and_kept(tmp_path: Path) -> None:
    found = read_environment({})
    found.write(tmp_path / "environment.json")
    assert found.kernel
    assert load_environment(tmp_path / "environment.json") == found


def test_without_a_file_there_is_no_environment(tmp_path: Path) -> None:
    assert load_environment(tmp_path / "environment.json") is None


def test_a_damaged_environment_is_named(tmp_path: Path, says: Says) -> None:
    (tmp_path / "environment.json").write_text("[]")
    with pytest.raises(RecordError) as caught:
        load_environment(tmp_path / "environment.json")
    assert caught.value == says()
