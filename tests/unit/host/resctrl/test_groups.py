"""Groups made, read back and removed, as the kernel's documentation says that they are."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.identity import ProcessIdentity, wait_for_end
from plimsoll.host.resctrl.filesystem import Resctrl, parse_schemata
from plimsoll.host.resctrl.groups import NO_GROUPS, remove_groups, resctrl_groups
from plimsoll.host.resctrl.settings import ResctrlSettings
from tests.unit.host.resctrl.documented import DocumentedResctrl, epyc, xeon, xeon_with_cdp
from tests.worded.says import Says

POLLED = {"tester": (2,), "dut": (3, 4)}
NEIGHBOURS = {"name": "neighbours", "of": ["noise"], "schemata": {"L3": 0x3, "MB": "15%"}}
LOOPS = {"name": "loops", "of": ["tester", "dut"], "cpus": [6], "schemata": {"L3": {1: 0x7FC}}}


def settings(*groups: dict[str, Any], **more: Any) -> ResctrlSettings:
    return ResctrlSettings.model_validate({"groups": groups, **more})


@pytest.fixture
def ledger(state: Path) -> Any:
    ledger = Ledger.create("test")
    yield ledger
    ledger.undo()


def schemata(resctrl: Resctrl, group: str) -> dict[str, dict[int, str]]:
    return parse_schemata(resctrl.read(f"{group}/schemata"))


def test_each_group_has_its_cpus_and_shares(tmp_path: Path, ledger: Ledger, says: Says) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    with resctrl_groups(settings(NEIGHBOURS, LOOPS), POLLED, ledger, resctrl) as groups:
        noise, loops = (f"plimsoll-{ledger.id}-{name}" for name in ("neighbours", "loops"))
        assert resctrl.group_names == (loops, noise)
        # The hardware has steps of 10 %, and the kernel goes to the next.
        assert schemata(resctrl, noise) == {"MB": {0: "20", 1: "20"}, "L3": {0: "3", 1: "3"}}
        assert schemata(resctrl, loops)["L3"] == {0: "7ff", 1: "7fc"}
        assert resctrl.cpus_of(loops) == {2, 3, 4, 6}
        assert resctrl.cpus_of(noise) == frozenset()
        assert groups.noise_tasks == tmp_path / noise / "tasks"
        assert groups.folders == {"neighbours": tmp_path / noise, "loops": tmp_path / loops}
        assert groups.notes == (
            says("resctrl", "neighbours", "MB:0=20;1=20", "L3:0=3;1=3"),
            "resctrl: loops (CPUs 2-4,6) has MB:0=100;1=100; L3:0=7ff;1=7fc",
        )
    assert resctrl.group_names == ()
    assert resctrl.read("cpus_list") == "0-7"


def test_what_is_in_force_is_for_the_record(tmp_path: Path, ledger: Ledger) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    with resctrl_groups(settings(NEIGHBOURS), POLLED, ledger, resctrl) as groups:
        assert groups.facts is not None
        facts = json.loads(json.dumps(groups.facts))
    assert facts["mounted_at"] == str(tmp_path)
    assert facts["info"]["L3"]["shareable_bits"] == "600"
    assert facts["info"]["L3"]["bit_usage"] == "0=XXSSSSSSSSS;1=XXSSSSSSSSS"
    assert facts["default"]["schemata"]["L3"] == {"0": "7ff", "1": "7ff"}
    assert facts["groups"] == [
        {
            "name": "neighbours",
            "of": ["noise"],
            "cpus": "",
            "schemata": {"MB": {"0": "20", "1": "20"}, "L3": {"0": "3", "1": "3"}},
            "mode": "shareable",
        }
    ]


def test_the_default_group_gets_back_what_it_had(tmp_path: Path, ledger: Ledger) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    resctrl.write("schemata", "L3:0=7fe;1=7ff")
    stated = settings(NEIGHBOURS, default={"L3": {0: 0x7F0}, "MB": "50%"})
    with resctrl_groups(stated, POLLED, ledger, resctrl):
        assert parse_schemata(resctrl.read("schemata")) == {
            "MB": {0: "50", 1: "50"},
            "L3": {0: "7f0", 1: "7ff"},
        }
    assert parse_schemata(resctrl.read("schemata")) == {
        "MB": {0: "100", 1: "100"},
        "L3": {0: "7fe", 1: "7ff"},
    }


def test_with_cdp_l3_is_code_and_data(tmp_path: Path, ledger: Ledger) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon_with_cdp())
    both = {"name": "a", "cpus": [1], "schemata": {"L3": 0x3, "MB": "1GiB/s"}}
    code = {"name": "b", "cpus": [2], "schemata": {"L3CODE": 0x1}}
    with resctrl_groups(settings(both, code), POLLED, ledger, resctrl):
        a, b = (schemata(resctrl, f"plimsoll-{ledger.id}-{name}") for name in "ab")
        assert (a["L3CODE"], a["L3DATA"]) == ({0: "3", 1: "3"}, {0: "3", 1: "3"})
        assert a["MB"] == {0: "1024", 1: "1024"}
        assert (b["L3CODE"], b["L3DATA"]) == ({0: "1", 1: "1"}, {0: "7ff", 1: "7ff"})


def test_amd_counts_in_eighths_of_a_gigabyte(tmp_path: Path, ledger: Ledger) -> None:
    resctrl = DocumentedResctrl(tmp_path, epyc())
    group = {"name": "a", "cpus": [1], "schemata": {"L3": {8: 0x0F0F}, "MB": {0: "2100MB/s"}}}
    with resctrl_groups(settings(group), POLLED, ledger, resctrl):
        a = schemata(resctrl, f"plimsoll-{ledger.id}-a")
    assert a == {"MB": {0: "16", 8: "2048"}, "L3": {0: "ffff", 8: "f0f"}}


def test_a_refusal_is_in_the_kernels_words_and_leaves_nothing(
    tmp_path: Path, ledger: Ledger, says: Says
) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    gaps = {"name": "b", "cpus": [1], "schemata": {"L3": 0x5}}
    with (
        pytest.raises(MachineError) as caught,
        resctrl_groups(settings(LOOPS, gaps), POLLED, ledger, resctrl),
    ):
        pytest.fail("the group is there")
    assert caught.value.where == "resctrl.groups[1].schemata.L3"
    assert caught.value == says("5", "1-bits")
    assert resctrl.group_names == ()


def test_running_out_of_classes_names_the_group(tmp_path: Path, ledger: Ledger, says: Says) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    for number in range(6):
        resctrl.make(f"vm{number}")
    with (
        pytest.raises(MachineError) as caught,
        resctrl_groups(settings(LOOPS, NEIGHBOURS), POLLED, ledger, resctrl),
    ):
        pytest.fail("the groups are there")
    assert caught.value.where == "resctrl.groups[1].name"
    assert caught.value == says("resctrl.groups[1].name")
    assert resctrl.group_names == tuple(f"vm{number}" for number in range(6))


def test_another_program_that_sets_masks_is_found_out(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    really_write = resctrl.write

    def write(name: str, text: str) -> None:
        really_write(name, text)
        if text.startswith("L3:"):
            resctrl.place(name, "MB:0=100;1=100\nL3:0=7ff;1=7ff")

    monkeypatch.setattr(resctrl, "write", write)
    with (
        pytest.raises(MachineError) as caught,
        resctrl_groups(settings(NEIGHBOURS), POLLED, ledger, resctrl),
    ):
        pytest.fail("the group is there")
    assert caught.value == says("0x3", "0", "7ff")


def test_what_is_changed_during_the_run_ends_it(tmp_path: Path, ledger: Ledger, says: Says) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    with resctrl_groups(settings(NEIGHBOURS, LOOPS), POLLED, ledger, resctrl) as groups:
        groups.check()
        resctrl.write(f"plimsoll-{ledger.id}-neighbours/schemata", "L3:0=7ff")
        with pytest.raises(MachineError) as caught:
            groups.check()
        assert caught.value == says("0", "3", "7ff", "neighbours")
        resctrl.write(f"plimsoll-{ledger.id}-neighbours/schemata", "L3:0=3")
        groups.check()
        resctrl.write("schemata", "MB:1=10")
        with pytest.raises(MachineError) as caught:
            groups.check()
        assert caught.value == says("resctrl", "MB", "0", "100")
        resctrl.write("schemata", "MB:1=100")
        # Groups of others are theirs.
        resctrl.make("vm1")
        groups.check()
        resctrl.remove(f"plimsoll-{ledger.id}-neighbours")
        with pytest.raises(MachineError) as caught:
            groups.check()
        assert caught.value == says("neighbours")
    NO_GROUPS.check()


def test_without_a_section_nothing_is_looked_for(ledger: Ledger) -> None:
    with resctrl_groups(None, POLLED, ledger) as groups:
        assert groups is NO_GROUPS
    assert ledger.record.undoing_modules == ()


def test_all_is_in_the_ledger_before_it_is_made(tmp_path: Path, ledger: Ledger) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    noted_at_first: list[Any] = []
    really_make = resctrl.make

    def make(group: str) -> None:
        noted_at_first.extend(ledger.record.undoing_modules)
        really_make(group)

    resctrl.make = make  # type: ignore[method-assign]
    stated = settings(NEIGHBOURS, default={"L3": 0x7FC})
    with resctrl_groups(stated, POLLED, ledger, resctrl):
        pass
    assert noted_at_first == [
        (
            "plimsoll.host.resctrl.groups",
            str(tmp_path),
            '["L3:0=7ff;1=7ff"]',
            f"plimsoll-{ledger.id}-neighbours",
        )
    ]


def test_removing_takes_no_group_of_others(tmp_path: Path, says: Says) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    resctrl.make("vm1")
    with pytest.raises(ValueError) as caught:
        remove_groups(resctrl, (), ("vm1",))
    assert caught.value == says("vm1")
    assert resctrl.group_names == ("vm1",)


def test_removing_may_be_repeated_and_find_nothing_mounted(tmp_path: Path) -> None:
    resctrl = DocumentedResctrl(tmp_path / "there", xeon())
    resctrl.make("plimsoll-a")
    remove_groups(resctrl, (), ("plimsoll-a",))
    remove_groups(resctrl, (), ("plimsoll-a",))
    assert resctrl.group_names == ()
    remove_groups(Resctrl(tmp_path / "gone"), ("L3:0=1",), ("plimsoll-a",))


OWNER = """
import sys, time
from pathlib import Path
from plimsoll.host.ledger.janitor import swept_ledger
root = Path(sys.argv[1])
with swept_ledger("test") as ledger:
    group = f"plimsoll-{ledger.id}-neighbours"
    ledger.note_undoing_module(
        "plimsoll.host.resctrl.groups", str(root), '["L3:0=7ff"]', group
    )
    (root / group).mkdir()
    (root / "schemata").write_text("L3:0=1\\n")
    janitor = next(each for each in ledger.record.processes if each.name == "janitor")
    print(janitor.identity.pid, janitor.identity.start_ticks, flush=True)
    time.sleep(600)
"""


def test_the_janitor_removes_the_groups_of_a_killed_run(state: Path, tmp_path: Path) -> None:
    (tmp_path / "schemata").write_text("L3:0=7ff\n")
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[4],
    )
    assert owner.stdout is not None
    janitor = ProcessIdentity(*map(int, owner.stdout.readline().split()))
    assert (tmp_path / "schemata").read_text() == "L3:0=1\n"
    owner.kill()
    owner.communicate()
    assert wait_for_end(janitor, timeout_s=60)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
    assert (tmp_path / "schemata").read_text() == "L3:0=7ff\n"
    assert list(state.iterdir()) == []


def test_an_end_in_good_order_runs_the_module_to_no_harm(state: Path, tmp_path: Path) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    with (
        swept_ledger("test") as ledger,
        resctrl_groups(settings(NEIGHBOURS, default={"L3": 0x7FC}), POLLED, ledger, resctrl),
    ):
        assert len(resctrl.group_names) == 1
    assert resctrl.group_names == ()
    assert parse_schemata(resctrl.read("schemata"))["L3"] == {0: "7ff", 1: "7ff"}
    assert list(state.iterdir()) == []
