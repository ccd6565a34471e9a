"""Throttling and use of CPUs, in v1, v2 and both."""

import errno
from pathlib import Path

import pytest

from plimsoll.observe.cgroups.cgroup_cpu import CgroupCpu
from plimsoll.observe.reading.host_files import RereadFile
from plimsoll.observe.reading.observer import NotObservable
from tests.unit.observe.cgroup_host import OTHERS, CgroupHost, v1_stat, v2_stat
from tests.unit.observe.cpu_tree import write
from tests.unit.observe.watched import Watched

POD = "/kubepods.slice/kubepods-pod1.slice"
DUT = f"{POD}/crio-abc.scope"
AGENT = "/user.slice/session-1.scope"


@pytest.fixture
def v2(tmp_path: Path) -> CgroupHost:
    """A pod with a limit on its slice, and a shell without any."""
    host = CgroupHost(tmp_path, v2="/sys/fs/cgroup")
    host.process("self", v2=AGENT)
    host.process(77, v2=DUT)
    for cgroup in (DUT, POD, "/kubepods.slice"):
        write(host.v2(cgroup) / "cpu.stat", v2_stat(1_000_000, 100, 10, 5_000))
        write(host.v2(cgroup) / "cpu.max", "max 100000")
    write(host.v2(POD) / "cpu.max", "200000 100000")
    for cgroup in (AGENT, "/user.slice", "/"):
        write(host.v2(cgroup) / "cpu.stat", v2_stat(9_000_000))
    return host


def test_throttling_and_use_are_reported_by_cgroup(v2: CgroupHost) -> None:
    cgroup = Watched(CgroupCpu, v2.observed(dut=77))
    write(v2.v2(DUT) / "cpu.stat", v2_stat(1_900_000, 110, 13, 45_000))
    rows = cgroup.read()
    names = {"cgroup": DUT, "process": "dut"}
    assert rows.counts("cpu-periods-sec", **names) == [10]
    assert rows.counts("cpu-throttled-periods-sec", **names) == [3]
    assert rows.values("cpu-throttled-usec-sec", **names) == [40_000]
    assert rows.values("cpu-usage-usec-sec", **names) == [900_000]


def test_of_those_above_the_limited_are_watched_too(v2: CgroupHost) -> None:
    cgroup = Watched(CgroupCpu, v2.observed(dut=77))
    write(v2.v2(POD) / "cpu.stat", v2_stat(1_000_000, 120, 12, 7_000))
    rows = cgroup.read()
    assert rows.counts("cpu-throttled-periods-sec", cgroup=POD, process="dut") == [2]
    assert {row.names["cgroup"] for row in rows.rows} == {DUT, POD, AGENT}


def test_what_nothing_can_throttle_is_reported_as_zero(v2: CgroupHost) -> None:
    rows = Watched(CgroupCpu, v2.observed()).read()
    assert rows.counts("cpu-throttled-periods-sec", cgroup=AGENT, process="agent") == [0]
    assert {row.names["cgroup"] for row in rows.rows} == {AGENT}


def test_a_controller_that_is_turned_on_in_between_is_read(v2: CgroupHost) -> None:
    cgroup = Watched(CgroupCpu, v2.observed())
    cgroup.read()
    write(v2.v2(AGENT) / "cpu.stat", v2_stat(9_000_000, 4, 3, 2_000))
    rows = cgroup.read()
    assert rows.counts("cpu-throttled-periods-sec", cgroup=AGENT) == [0, 3]


def test_processes_of_one_cgroup_share_its_series(v2: CgroupHost) -> None:
    v2.process(78, v2=DUT)
    v2.process(79, v2=POD)
    rows = Watched(CgroupCpu, v2.observed(dut=77, vhost=78, sidecar=79)).read()
    by_cgroup = {row.names["cgroup"]: row.names["process"] for row in rows.rows}
    assert by_cgroup == {DUT: "dut vhost", POD: "dut sidecar vhost", AGENT: "agent"}
    assert len(rows.matching("cpu-periods-sec", cgroup=DUT)) == 1


def test_a_cgroup_that_is_removed_is_absent(
    v2: CgroupHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    cgroup = Watched(CgroupCpu, v2.observed(dut=77))
    cgroup.read()
    really_read = RereadFile.read

    def read(file: RereadFile) -> bytes:
        # As kernfs answers for a file that was open when its cgroup was removed.
        if file.path.is_relative_to(v2.v2(DUT)):
            raise OSError(errno.ENODEV, "No such device")
        return really_read(file)

    monkeypatch.setattr(RereadFile, "read", read)
    cgroup.read()
    rows = cgroup.read()
    assert rows.times("cpu-throttled-usec-sec", cgroup=DUT) == [(0, 1)]
    assert rows.times("cpu-throttled-usec-sec", cgroup=POD) == [(0, 3)]


def test_a_process_that_has_ended_is_left_out(v2: CgroupHost) -> None:
    rows = Watched(CgroupCpu, v2.observed(dut=4242)).read()
    assert {row.names["process"] for row in rows.rows} == {"agent"}


def test_a_cgroup_outlives_its_process(v2: CgroupHost) -> None:
    cgroup = Watched(CgroupCpu, v2.observed(dut=77))
    (v2.files.proc / "77/cgroup").unlink()
    write(v2.v2(DUT) / "cpu.stat", v2_stat(1_500_000, 100, 10, 5_000))
    assert cgroup.read().counts("cpu-usage-usec-sec", cgroup=DUT) == [500_000]


def test_a_cgroup_that_is_gone_before_it_is_looked_at_is_left_out(v2: CgroupHost) -> None:
    v2.process(78, v2=f"{POD}/crio-old.scope (deleted)")
    rows = Watched(CgroupCpu, v2.observed(dut=77, old=78)).read()
    assert rows.matching("cpu-periods-sec", process="old") == []
    assert rows.counts("cpu-periods-sec", cgroup=POD) == [0]


def test_v1_counts_in_nanoseconds_and_in_two_hierarchies(tmp_path: Path) -> None:
    mounts = {"cpu": "/sys/fs/cgroup/cpu", "cpuacct": "/sys/fs/cgroup/cpuacct"}
    host = CgroupHost(tmp_path, v1=mounts)
    host.process("self", cpu="/", cpuacct="/")
    host.process(77, cpu="/pods/dut", cpuacct="/pods/dut")
    write(host.v1("cpu", "/") / "cpu.stat", v1_stat(0, 0, 0))
    write(host.v1("cpu", "/pods") / "cpu.stat", v1_stat(0, 0, 0))
    write(host.v1("cpu", "/pods") / "cpu.cfs_quota_us", -1)
    write(host.v1("cpu", "/pods/dut") / "cpu.stat", v1_stat(50, 5, 1_000_999))
    write(host.v1("cpu", "/pods/dut") / "cpu.cfs_quota_us", 50_000)
    write(host.v1("cpuacct", "/") / "cpuacct.usage", 1)
    write(host.v1("cpuacct", "/pods/dut") / "cpuacct.usage", 2_000_000_000)
    cgroup = Watched(CgroupCpu, host.observed(dut=77))
    write(host.v1("cpu", "/pods/dut") / "cpu.stat", v1_stat(60, 8, 31_001_000))
    write(host.v1("cpuacct", "/pods/dut") / "cpuacct.usage", 2_500_000_500)
    rows = cgroup.read()
    assert rows.counts("cpu-periods-sec", cgroup="/pods/dut", process="dut") == [10]
    assert rows.counts("cpu-throttled-periods-sec", cgroup="/pods/dut") == [3]
    # From 1000 µs and a bit to 31001 µs.
    assert rows.counts("cpu-throttled-usec-sec", cgroup="/pods/dut") == [30_001]
    assert rows.counts("cpu-usage-usec-sec", cgroup="/pods/dut") == [500_000]
    assert rows.counts("cpu-throttled-periods-sec", cgroup="/", process="agent dut") == [0]
    assert {row.names["cgroup"] for row in rows.rows} == {"/", "/pods/dut"}


def test_v1_with_both_controllers_in_one_hierarchy(tmp_path: Path) -> None:
    host = CgroupHost(tmp_path, v1={"cpu,cpuacct": "/sys/fs/cgroup/cpu,cpuacct"})
    host.process("self", **{"cpu,cpuacct": "/a"})
    write(host.v1("cpu,cpuacct", "/a") / "cpu.stat", v1_stat(1, 1, 1_000))
    write(host.v1("cpu,cpuacct", "/a") / "cpuacct.usage", 5_000)
    cgroup = Watched(CgroupCpu, host.observed())
    write(host.v1("cpu,cpuacct", "/a") / "cpu.stat", v1_stat(2, 2, 3_000))
    write(host.v1("cpu,cpuacct", "/a") / "cpuacct.usage", 9_000)
    rows = cgroup.read()
    assert rows.counts("cpu-throttled-usec-sec", cgroup="/a") == [2]
    assert rows.counts("cpu-usage-usec-sec", cgroup="/a") == [4]


def test_on_a_hybrid_host_the_one_with_the_controller_is_read(tmp_path: Path) -> None:
    mounts = {"cpu": "/sys/fs/cgroup/cpu", "name=systemd": "/sys/fs/cgroup/systemd"}
    host = CgroupHost(tmp_path, v2="/sys/fs/cgroup/unified", v1=mounts)
    host.process("self", v2="/elsewhere", cpu="/mine")
    write(host.v2("/elsewhere") / "cpu.stat", v2_stat(7))
    write(host.v1("cpu", "/mine") / "cpu.stat", v1_stat(1, 1, 1_000))
    cgroup = Watched(CgroupCpu, host.observed())
    write(host.v1("cpu", "/mine") / "cpu.stat", v1_stat(2, 2, 2_000))
    rows = cgroup.read()
    assert rows.counts("cpu-throttled-periods-sec", cgroup="/mine") == [1]
    assert {row.names["cgroup"] for row in rows.rows} == {"/mine"}


def test_a_part_of_the_hierarchy_that_is_mounted_holds_what_is_below_it(tmp_path: Path) -> None:
    """As in a container without a cgroup namespace of its own."""
    host = CgroupHost(tmp_path)
    host.mount(OTHERS + f"31 23 0:28 {POD} /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    host.process("self", v2=DUT)
    host.process(77, v2="/outside")
    host.process(78, v2="/../../other-pod")
    write(host.files.sys / "fs/cgroup/crio-abc.scope/cpu.stat", v2_stat(0, 1, 1, 1))
    write(host.files.sys / "fs/cgroup/cpu.stat", v2_stat(0, 1, 1, 1))
    write(host.files.sys / "fs/cgroup/cpu.max", "1000 100000")
    rows = Watched(CgroupCpu, host.observed(outside=77, other=78)).read()
    assert {row.names["cgroup"] for row in rows.rows} == {DUT, POD}
    assert {row.names["process"] for row in rows.rows} == {"agent"}


def test_a_mount_with_a_blank_in_its_name(tmp_path: Path) -> None:
    host = CgroupHost(tmp_path)
    host.mount(OTHERS + r"31 23 0:28 / /sys/fs/my\040groups rw - cgroup2 cgroup2 rw")
    host.process("self", v2="/a:b")
    write(host.files.sys / "fs/my groups/a:b/cpu.stat", v2_stat(0, 1, 1, 1))
    rows = Watched(CgroupCpu, host.observed()).read()
    assert {row.names["cgroup"] for row in rows.rows} == {"/a:b"}


def test_the_mount_of_the_host_goes_before_those_of_containers(tmp_path: Path) -> None:
    host = CgroupHost(tmp_path)
    line = "31 23 0:28 {} {} rw - cgroup2 cgroup2 rw\n"
    host.mount(line.format("/", "/sys/fs/cgroup") + line.format(POD, "/sys/fs/pod"))
    host.process("self", v2=AGENT)
    write(host.files.sys / "fs/cgroup" / AGENT[1:] / "cpu.stat", v2_stat(0))
    assert Watched(CgroupCpu, host.observed()).read().counts("cpu-periods-sec") == [0]


@pytest.mark.parametrize("mounts", [OTHERS, ""])
def test_a_host_without_cgroups_says_so(mounts: str, tmp_path: Path) -> None:
    host = CgroupHost(tmp_path)
    host.mount(mounts)
    host.process("self", v2="/")
    with pytest.raises(NotObservable, match="no cgroup with CPU accounting is mounted"):
        Watched(CgroupCpu, host.observed())
