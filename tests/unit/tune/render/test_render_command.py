"""`plimsoll tune render` as a user calls it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.tune.intent.host_tree import HostTree
from tests.worded.says import Says, passage


@pytest.fixture
def plimsoll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Plimsoll:
    monkeypatch.chdir(tmp_path)
    return Plimsoll(monkeypatch, capsys)


INTENT = """
name: box
platform: bare-metal
cpus: {reserved: "0", isolated: "1-3"}
"""


def host(root: Path, cpus: str) -> Path:
    """A root file system with CPUs, each a core of its own, and nothing else."""
    cpu = root / "sys/devices/system/cpu"
    cpu.mkdir(parents=True)
    (cpu / "online").write_text(cpus)
    return root


def test_a_preset(plimsoll: Plimsoll, says: Says) -> None:
    assert plimsoll("tune", "render", "--preset", "telco-core-rds", "-o", "out") == 0
    assert plimsoll.out == "13 files in out: read out/README.md\n"
    found = yaml.safe_load(Path("out/1-node/20-performance-profile.yaml").read_text())
    assert found["metadata"]["name"] == "customcnf"
    assert "(preset telco-core-rds)" in Path("out/README.md").read_text()
    # Its policy is for a kind of card.
    assert plimsoll.err == says("8086:158b", "node")


def test_a_preset_by_its_name_alone_as_the_audit_takes_it(plimsoll: Plimsoll) -> None:
    assert plimsoll("tune", "render", "vm", "-o", "out") == 0
    assert "From the intent vm (preset vm)." in Path("out/README.md").read_text()


def test_a_file(plimsoll: Plimsoll, says: Says) -> None:
    Path("box.yaml").write_text(INTENT)
    assert plimsoll("tune", "render", "box.yaml", "--output", "out", "--vendor", "amd") == 0
    script = Path("out/host/usr/local/sbin/plimsoll-housekeeping")
    assert script.stat().st_mode & 0o111
    assert passage(script.read_text(), "box", "box.yaml") == says()


@pytest.mark.parametrize("words", [(), ("box.yaml", "--preset", "vm")])
def test_an_intent_comes_from_one_place(
    plimsoll: Plimsoll, words: tuple[str, ...], says: Says
) -> None:
    Path("box.yaml").write_text(INTENT)
    assert plimsoll("tune", "render", *words, "-o", "out") == 2
    assert plimsoll.err == says("preset", "--preset", "plimsoll tune render")


def test_an_unknown_preset(plimsoll: Plimsoll, says: Says) -> None:
    assert plimsoll("tune", "render", "--preset", "bare-mettle", "-o", "out") == 2
    assert plimsoll.err == says("bare-mettle")
    assert not Path("out").exists()


def test_foreign_files_are_kept(plimsoll: Plimsoll, says: Says) -> None:
    Path("out").mkdir()
    Path("out/README.md").write_text("mine")
    assert plimsoll("tune", "render", "--preset", "vm", "-o", "out") == 2
    assert plimsoll.err == says("README.md")
    assert plimsoll("tune", "render", "--preset", "vm", "-o", "out", "--force") == 0
    assert Path("out/README.md").read_text() != "mine"


def test_files_of_an_earlier_rendering_are_reported(plimsoll: Plimsoll) -> None:
    plimsoll("tune", "render", "--preset", "bare-metal", "-o", "out")
    assert plimsoll("tune", "render", "--preset", "vm", "-o", "out") == 0
    message = "warning: out/bios-checklist.md is an earlier rendering's; remove it"
    assert message in plimsoll.err


def test_a_host_that_fits(plimsoll: Plimsoll, tmp_path: Path) -> None:
    Path("box.yaml").write_text(INTENT)
    root = host(tmp_path / "root", "0-3")
    assert plimsoll("tune", "render", "box.yaml", "-o", "out", "--topology", root) == 0
    assert Path("out/README.md").exists()


def test_a_host_that_does_not_fit_is_refused_with_all_that_is_wrong(
    plimsoll: Plimsoll, tmp_path: Path, says: Says
) -> None:
    Path("box.yaml").write_text(INTENT + "nics: [{name: east, pf_names: [ens1]}]\n")
    root = host(tmp_path / "root", "0-2,4-5")
    assert plimsoll("tune", "render", "box.yaml", "-o", "out", "--topology", root) == 2
    assert "3 mistakes:" in plimsoll.err
    assert "cpus.isolated: CPU 3 " in plimsoll.err
    assert plimsoll.err == says("cpus", "4-5", "nics[0]", "ens1")
    assert not Path("out").exists()


def test_ports_that_only_the_host_knows(plimsoll: Plimsoll, tmp_path: Path, says: Says) -> None:
    """eth0 carries the default route, and is named once more by its address."""
    tree = HostTree(tmp_path / "root")
    tree.cpus("0-3", ["0", "1", "2", "3"])
    tree.node(0, "0-3", 8)
    tree.interface("eth0", tree.card("0000:01:00.0", "ice"))
    tree.route("eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0")
    nics = "nics: [{name: a, pf_names: [eth0], driver: vfio-pci}, {name: b, pci: ['0000:01:00.0']}]"
    Path("box.yaml").write_text(f"{INTENT}{nics}\n")
    assert plimsoll("tune", "render", "box.yaml", "-o", "out", "--topology", tree.root) == 2
    assert plimsoll.err == says("nics[0]", "eth0", "num_vfs", "nics[0].pf_names", "0000:01:00.0")
    assert not Path("out").exists()


def test_a_capture_that_is_none(plimsoll: Plimsoll, says: Says) -> None:
    assert plimsoll("tune", "render", "--preset", "vm", "-o", "out", "--topology", "gone") == 2
    assert plimsoll.err == says("gone")


def test_this_host(plimsoll: Plimsoll, says: Says) -> None:
    """Whatever this machine is, an intent for 8000 CPUs is for another."""
    cpus = 'cpus: {reserved: "0", isolated: "1-7999"}'
    Path("box.yaml").write_text(f"name: box\nplatform: bare-metal\n{cpus}\n")
    assert plimsoll("tune", "render", "box.yaml", "-o", "out", "--topology", "live") == 2
    assert plimsoll.err == says("box")


def test_an_output_that_is_no_folder(plimsoll: Plimsoll, says: Says) -> None:
    """As of a variable that the shell does not have, and of a file."""
    assert plimsoll("tune", "render", "vm", "-o", "") == 2
    assert "--output: is empty" in plimsoll.err
    Path("file").touch()
    assert plimsoll("tune", "render", "vm", "-o", "file") == 2
    assert plimsoll.err == says("--output")
    assert [path.name for path in Path().iterdir()] == ["file"]


@pytest.mark.parametrize(
    "output", ["runs", "runs/manifests", "runs/20260314T120005-demo", "runs/20260314T120005-demo/m"]
)
def test_run_directories_stay_among_themselves(plimsoll: Plimsoll, output: str, says: Says) -> None:
    run = RunDirectory.create(
        Path("runs"), "demo", {}, now=datetime(2026, 3, 14, 12, 0, 5, tzinfo=UTC)
    )
    before = sorted(run.path.parent.rglob("*"))
    assert plimsoll("tune", "render", "vm", "-o", output) == 2
    assert plimsoll.err == says("--output", str(output), "20260314T120005-demo", "manifests/")
    assert sorted(run.path.parent.rglob("*")) == before


def test_outside_the_folder_of_runs_is_no_run(plimsoll: Plimsoll) -> None:
    RunDirectory.create(Path("runs"), "demo", {})
    Path("mine").mkdir()
    Path("mine/experiment.yaml").touch()
    assert plimsoll("tune", "render", "vm", "-o", "manifests") == 0
    assert plimsoll("tune", "render", "vm", "-o", "mine") == 0
