from pathlib import Path

import pytest

from plimsoll.observe.cgroups.cgroup_pressure import CgroupPressure
from plimsoll.observe.reading.observer import NotObservable
from tests.unit.observe.cgroup_host import CgroupHost, pressure
from tests.unit.observe.cpu_tree import write
from tests.unit.observe.watched import Watched


@pytest.fixture
def host(tmp_path: Path) -> CgroupHost:
    host = CgroupHost(tmp_path, v2="/sys/fs/cgroup")
    host.process("self", v2="/")
    host.process(77, v2="/pod/dut")
    for resource in ("cpu", "memory", "io"):
        write(host.files.proc / "pressure" / resource, pressure(100, 0))
        for cgroup in ("/pod/dut", "/pod", "/"):
            write(host.v2(cgroup) / f"{resource}.pressure", pressure(100, 50))
    for cgroup in ("/pod/dut", "/pod"):
        write(host.v2(cgroup) / "cgroup.type", "domain")
    write(host.v2("/pod") / "cpu.max", "max 100000")
    return host


def test_pressure_is_reported_by_resource_and_kind(host: CgroupHost) -> None:
    watched = Watched(CgroupPressure, host.observed(dut=77))
    write(host.v2("/pod/dut") / "memory.pressure", pressure(30_100, 20_050))
    write(host.files.proc / "pressure/io", pressure(700, 600))
    rows = watched.read()
    dut = {"cgroup": "/pod/dut", "process": "dut"}
    assert rows.values("pressure-usec-sec", resource="memory", kind="some", **dut) == [30_000]
    assert rows.counts("pressure-usec-sec", resource="memory", kind="full", **dut) == [20_000]
    assert rows.counts("pressure-usec-sec", resource="cpu", kind="full", **dut) == [0]
    assert rows.counts("pressure-usec-sec", cgroup="host", resource="io", kind="some") == [600]
    assert rows.counts("pressure-usec-sec", cgroup="host", resource="io", kind="full") == [600]


def test_the_host_is_reported_once_and_not_what_is_undefined_for_it(host: CgroupHost) -> None:
    rows = Watched(CgroupPressure, host.observed(dut=77)).read()
    assert {row.names["cgroup"] for row in rows.rows} == {"host", "/pod/dut"}
    of_host = [row.names for row in rows.matching("pressure-usec-sec", cgroup="host")]
    assert {(names["resource"], names["kind"]) for names in of_host} == {
        ("cpu", "some"),
        ("memory", "some"),
        ("memory", "full"),
        ("io", "some"),
        ("io", "full"),
    }


def test_those_above_that_have_a_limit_are_watched_too(host: CgroupHost) -> None:
    write(host.v2("/pod") / "cpu.max", "150000 100000")
    rows = Watched(CgroupPressure, host.observed(dut=77)).read()
    assert rows.counts("pressure-usec-sec", cgroup="/pod", resource="cpu", kind="some") == [0]


def test_kernels_before_5_13_know_only_some_of_the_cpu(host: CgroupHost) -> None:
    path = host.v2("/pod/dut") / "cpu.pressure"
    write(path, "some avg10=0.00 avg60=0.00 avg300=0.00 total=5")
    watched = Watched(CgroupPressure, host.observed(dut=77))
    write(path, "some avg10=0.00 avg60=0.00 avg300=0.00 total=9")
    rows = watched.read().matching("pressure-usec-sec", cgroup="/pod/dut", resource="cpu")
    assert [(row.names["kind"], row.count) for row in rows] == [("some", 4)]


def test_without_cgroups_the_host_alone_is_reported(host: CgroupHost) -> None:
    host.mount("")
    rows = Watched(CgroupPressure, host.observed(dut=77)).read()
    assert {row.names["cgroup"] for row in rows.rows} == {"host"}


def test_a_kernel_that_tells_no_pressure_says_so(tmp_path: Path) -> None:
    host = CgroupHost(tmp_path, v2="/sys/fs/cgroup")
    host.process("self", v2="/")
    with pytest.raises(NotObservable, match="no pressure: boot it with psi=1"):
        Watched(CgroupPressure, host.observed())
