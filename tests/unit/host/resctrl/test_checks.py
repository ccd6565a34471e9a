"""What is refused of an experiment's `resctrl` section before a run begins."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.resctrl.checks import resctrl_mistakes
from plimsoll.host.resctrl.filesystem import Resctrl
from plimsoll.host.resctrl.settings import ResctrlSettings
from tests.unit.host.resctrl.documented import (
    DocumentedResctrl,
    Machine,
    epyc,
    xeon,
    xeon_with_cdp,
)
from tests.worded.says import Says

POLLED = {"tester": (2,), "dut": (3, 4)}


@pytest.fixture(autouse=True)
def _eight_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.host.cpus.online_cpus", lambda: frozenset(range(8)))
    monkeypatch.setattr("plimsoll.host.cpus.allowed_cpus", lambda: frozenset(range(8)))


def settings(*schemata: dict[str, Any], **more: Any) -> ResctrlSettings:
    """A group of noise with each."""
    groups = [{"name": f"g{i}", "cpus": [i], "schemata": each} for i, each in enumerate(schemata)]
    return ResctrlSettings.model_validate({"groups": groups, **more})


def of(stated: ResctrlSettings, resctrl: Resctrl, proc: Path = Path("/none")) -> list[str]:
    found = list(resctrl_mistakes(stated, POLLED, simulated=False, find=lambda: resctrl, proc=proc))
    assert all(each.remedy for each in found)
    # As those who list them do, each once.
    return list(dict.fromkeys(f"{each.where}: {each.message}" for each in found))


def on(machine: Machine, path: Path, *schemata: dict[str, Any], **more: Any) -> list[str]:
    return of(settings(*schemata, **more), DocumentedResctrl(path, machine))


def test_what_the_hardware_has_is_not_refused(tmp_path: Path) -> None:
    stated = {"L3": {0: 0x00F, 1: 0x7F0}, "MB": "20%"}
    assert on(xeon(), tmp_path / "xeon", stated, default={"L3": 0x7FF}) == []
    apart = {"L3CODE": 0x3, "L3DATA": 0x7FC, "MB": "4GB/s"}
    assert on(xeon_with_cdp(), tmp_path / "cdp", apart, {"L3": 0x1}) == []
    gaps = {"L3": {8: 0x0F0F}, "MB": {0: "2GB/s"}}
    assert on(epyc(), tmp_path / "epyc", gaps) == []


@pytest.mark.parametrize(
    ("machine", "schemata", "facts"),
    [
        (xeon, {"L3": 0x800}, ("L3", "0x800")),
        (xeon, {"L3": 0}, ("L3", "0x0", "1")),
        (xeon, {"L3": 0x5}, ("L3", "0x5")),
        (xeon, {"L3": {2: 0x3}}, ("L3[2]",)),
        (xeon, {"L3DATA": 0x3}, ("L3DATA",)),
        (xeon, {"L2": 0x3}, ("L2", "L3")),
        (xeon, {"MB": "5%"}, ("5%",)),
        (xeon, {"MB": "4GB/s"}, ("4000000000B/s",)),
        (xeon, {"MB": {7: "20%"}}, ("MB[7]",)),
        (xeon_with_cdp, {"MB": "20%"}, ("20%",)),
        (xeon_with_cdp, {"MB": "1MB/s"}, ("1000000B/s",)),
        (epyc, {"MB": "100MB/s"}, ("100000000B/s",)),
        (epyc, {"L3": 0x10000}, ("L3", "0x10000")),
    ],
)
def test_what_it_has_not(
    tmp_path: Path, machine: Any, schemata: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    (first, *_) = on(machine(), tmp_path, schemata)
    assert first == says("resctrl.groups[0].schemata", *facts)


def test_more_bits_in_a_row_may_be_needed(tmp_path: Path, says: Says) -> None:
    machine = xeon()
    machine.info["L3/min_cbm_bits"] = "2"
    assert on(machine, tmp_path, {"L3": 0x1}, {"L3": 0x3}) == [
        says("resctrl.groups[0].schemata.L3", "0x1", "2")
    ]


def test_kernels_before_sparse_masks_take_gaps_of_amd_alone(tmp_path: Path) -> None:
    machine = xeon()
    del machine.info["L3/sparse_masks"]
    assert len(on(machine, tmp_path, {"L3": 0x5})) == 1
    machine.info["L3/sparse_masks"] = "1"
    assert on(machine, tmp_path / "sparse", {"L3": 0x5}) == []


def test_ways_of_exclusive_and_locked_groups_are_kept_off(tmp_path: Path, says: Says) -> None:
    machine = xeon()
    machine.info["L3/bit_usage"] = "0=XXSSSSSSSEE;1=XXSSSSSPPSS"
    assert on(machine, tmp_path, {"L3": 0x7}) == [
        says("resctrl.groups[0].schemata.L3", "0x3"),
        says("resctrl.groups[0].schemata.L3", "0x4", "1"),
    ]


def test_classes_of_service_run_out(tmp_path: Path, says: Says) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    for name in ("vm1", "vm2", "vm3", "vm4", "vm5", "locked"):
        resctrl.make(name)
    # Its class is free again.
    resctrl.place("locked/mode", "pseudo-locked")
    two = settings({}, {})
    assert of(two, resctrl) == []
    assert of(settings({}, {}, {}), resctrl) == [
        says("resctrl.groups", "3", "2", "8", "vm1", "vm2", "vm3", "vm4", "vm5")
    ]


def test_what_monitors_alone_allocates_nothing(tmp_path: Path, says: Says) -> None:
    machine = xeon()
    machine.info = {k: v for k, v in machine.info.items() if "L3_MON" in k or "status" in k}
    found = on(machine, tmp_path, {"MB": "20%"})
    assert found == [
        says("resctrl", str(tmp_path)),
        says("resctrl.groups[0].schemata.MB", "info/MB"),
    ]


def test_cpus_of_others_are_left_to_them(tmp_path: Path, says: Says) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    resctrl.make("vm1")
    resctrl.write("vm1/cpus_list", "3-5")
    stated = ResctrlSettings.model_validate(
        {"groups": [{"name": "loops", "of": ["dut"], "cpus": [6, 5]}]}
    )
    assert of(stated, resctrl) == [
        says(f"resctrl.groups[0].{field}:", str(cpu), "vm1")
        for field, cpu in (("of", 3), ("of", 4), ("cpus[1]", 5))
    ]


def test_a_cpu_is_one_groups_and_there(tmp_path: Path, says: Says) -> None:
    stated = ResctrlSettings.model_validate(
        {"groups": [{"name": "a", "of": ["dut"]}, {"name": "b", "cpus": [4, 9]}]}
    )
    assert of(stated, DocumentedResctrl(tmp_path, xeon())) == [
        says("resctrl.groups[1].cpus[1]", "9"),
        says("resctrl.groups[1].cpus[0]", "4"),
    ]


def test_a_role_needs_cpus_here(tmp_path: Path, says: Says) -> None:
    stated = ResctrlSettings.model_validate({"groups": [{"name": "a", "of": ["dut"]}]})
    resctrl = DocumentedResctrl(tmp_path, xeon())
    found = list(
        resctrl_mistakes(stated, {"tester": (2,), "dut": ()}, simulated=False, find=lambda: resctrl)
    )
    assert [f"{each.where}: {each.message}" for each in found] == [
        says("resctrl.groups[0].of", "dut")
    ]


def test_a_process_in_another_group_takes_its_children_there(tmp_path: Path, says: Says) -> None:
    own = tmp_path / "proc/self/cpu_resctrl_groups"
    own.parent.mkdir(parents=True)
    resctrl = DocumentedResctrl(tmp_path / "resctrl", xeon())
    own.write_text("res:/\nmon:/\n")
    assert of(settings({}), resctrl, tmp_path / "proc") == []
    own.write_text("res:guaranteed\nmon:/\n")
    (found,) = of(settings({}), resctrl, tmp_path / "proc")
    assert found == says("resctrl", "guaranteed")


def test_a_simulated_lab_has_no_caches(says: Says) -> None:
    (found,) = resctrl_mistakes(settings({}), {}, simulated=True)
    assert found.where == "resctrl"
    assert found == says("resctrl")
    assert list(resctrl_mistakes(None, {}, simulated=True)) == []


def proc(tmp_path: Path, mounts: str, filesystems: str) -> Path:
    (tmp_path / "mounts").write_text(mounts)
    (tmp_path / "filesystems").write_text(filesystems)
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nvendor_id\t: AuthenticAMD\n")
    return tmp_path


def test_a_machine_without_it_is_told_apart_from_one_not_mounted(
    tmp_path: Path, says: Says
) -> None:
    with pytest.raises(MachineError) as caught:
        Resctrl.find(proc(tmp_path, "proc /proc proc rw 0 0\n", "nodev\tproc\n\text4\n"))
    assert caught.value == says("resctrl")
    with pytest.raises(MachineError) as caught:
        Resctrl.find(proc(tmp_path, "proc /proc proc rw 0 0\n", "nodev\tresctrl\n"))
    assert caught.value == says("-t", "/sys/fs/resctrl", "mount -t resctrl resctrl /sys/fs/resctrl")


def test_it_is_found_where_it_is_mounted(tmp_path: Path) -> None:
    mounts = "proc /proc proc rw 0 0\nresctrl /mnt/rdt resctrl rw,relatime,cdp,mba_MBps 0 0\n"
    found = Resctrl.find(proc(tmp_path, mounts, "nodev\tresctrl\n"))
    assert (found.root, found.vendor) == (Path("/mnt/rdt"), "AuthenticAMD")
    assert found.options == {"rw", "relatime", "cdp", "mba_MBps"}
