from pathlib import Path

import pytest

from plimsoll.observe.reading.observer import NotObservable
from plimsoll.observe.sysfs.thermal import Thermal
from tests.unit.observe.cpu_tree import CpuTree, write
from tests.unit.observe.watched import Watched


@pytest.fixture
def tree(tmp_path: Path) -> CpuTree:
    tree = CpuTree(tmp_path, cpus=4)
    for cpu in range(4):
        tree.throttled(cpu, core=(5, 900), package=(7, 1200))
    return tree


def sensor(tree: CpuTree, chip: str, hwmon: int, millicelsius: int) -> None:
    folder = tree.files.sys / f"class/hwmon/hwmon{hwmon}"
    device = tree.files.sys / f"devices/pci0000:00/0000:00:18.{hwmon}"
    write(folder / "name", chip)
    write(folder / "temp1_input", millicelsius)
    write(folder / "temp1_label", "Tctl")
    device.mkdir(parents=True, exist_ok=True)
    if not (folder / "device").exists():
        (folder / "device").symlink_to(device)


def test_events_and_time_are_reported_by_core_and_package(tree: CpuTree) -> None:
    thermal = Watched(Thermal, tree.host())
    tree.throttled(1, core=(6, 1000), package=(9, 1500))
    tree.throttled(0, core=(5, 900), package=(9, 1500))
    rows = thermal.read()
    assert rows.counts("throttle-events-sec", domain="core", num="1") == [1]
    assert rows.values("throttled-msec-sec", domain="core", num="1") == [100]
    assert rows.counts("throttle-events-sec", domain="core", num="0") == [0]
    # Every CPU counts what happens to its package; that is reported once.
    assert rows.counts("throttle-events-sec", domain="package", package="0") == [2]
    assert rows.counts("throttled-msec-sec", domain="package", package="0") == [300]
    assert rows.counts("throttle-events-sec", domain="package", package="1") == [0]


def test_kernels_and_cpus_that_tell_less_are_read_as_far_as_they_do(tmp_path: Path) -> None:
    tree = CpuTree(tmp_path, cpus=2)
    tree.write("cpu0/thermal_throttle/core_throttle_count", 3)
    thermal = Watched(Thermal, tree.host())
    tree.write("cpu0/thermal_throttle/core_throttle_count", 4)
    rows = thermal.read()
    assert [(row.type, row.count) for row in rows.rows] == [("throttle-events-sec", 1)]


def test_a_cpu_that_goes_offline_is_absent(tree: CpuTree) -> None:
    thermal = Watched(Thermal, tree.host())
    thermal.read()
    # Then the kernel writes nothing into the file.
    (tree.folder / "cpu3/thermal_throttle/core_throttle_count").write_text("")
    thermal.read()
    rows = thermal.read()
    assert rows.times("throttle-events-sec", num="3") == [(0, 1)]
    assert rows.times("throttle-events-sec", num="2") == [(0, 3)]


def test_temperatures_are_read_where_that_interrupts_no_one(tmp_path: Path) -> None:
    tree = CpuTree(tmp_path, cpus=2)
    sensor(tree, "coretemp", 0, 70_000)
    sensor(tree, "acpitz", 1, 60_000)
    sensor(tree, "k10temp", 2, 51_000)
    thermal = Watched(Thermal, tree.host())
    sensor(tree, "k10temp", 2, 52_125)
    rows = thermal.read()
    assert rows.values("temperature-celsius", chip="0000:00:18.2", sensor="Tctl") == [52.125]
    assert len(rows.rows) == 1


def test_a_guest_says_that_there_is_nothing(tmp_path: Path) -> None:
    tree = CpuTree(tmp_path, cpus=2)
    sensor(tree, "coretemp", 0, 70_000)
    with pytest.raises(NotObservable, match=r"no CPU tells of throttling .*k10temp is there"):
        Watched(Thermal, tree.host())
