"""Plug-ins of other distributions: built as wheels, installed by pip, and run like ours."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from tests.integration.command import ROOT
from tests.unit.benchmark.simulated_tests import experiment

METHOD = ROOT / "tests/unit/methods/folder/staircase"
MANY = ",".join(f"{500 + number}kpps" for number in range(150))


def method_wheel(folder: Path, name: str, package: str, *, broken: bool = False) -> Path:
    """The staircase under another name, as `package` of a distribution that says so."""
    files = {
        f"{package}/{path.name}": path.read_text()
        .replace("plimsoll.methods.staircase", package)
        .replace('"staircase"', f'"{name}"')
        .replace("staircase-result", f"{name}-result")
        for path in METHOD.glob("*.py")
    }
    if broken:
        files[f"{package}/command.py"] = "import a_module_that_nobody_has\n"
    return wheel(folder, package, files, f"[plimsoll.methods]\n{name} = {package}\n")


def wheel(folder: Path, package: str, files: Mapping[str, str], entries: str) -> Path:
    """Of a distribution with these files and entry points."""
    about = f"lab_{package}-1.0.dist-info"
    files = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: lab-{package}\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        f"{about}/entry_points.txt": entries,
    }
    record = "".join(f"{path},{checksum(text)},{len(text)}\n" for path, text in files.items())
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n"
    path = folder / f"lab_{package}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in files.items():
            archive.writestr(member, text)
    return path


def checksum(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


PARTS = {
    "parts_lab/__init__.py": "",
    "parts_lab/lab.py": """
from typing import ClassVar, Literal

from plimsoll.dut.labs.simulated import SimulatedSettings


class Twin(SimulatedSettings):
    summary: ClassVar[str] = "our twin of the DUT"
    kind: Literal["our-twin"] = "our-twin"
""",
    "parts_lab/criterion.py": """
from typing import Literal

from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.outcome.finding import Finding


class LeastFrames(Criterion):
    kind: Literal["least-frames"] = "least-frames"
    at_least: int

    def evaluate(self, outcome):
        sent = sum(outcome.offered(each.stream) for each in outcome.sending)
        verdict = "ok" if sent >= self.at_least else "fail"
        return [Finding(self.kind, "trial", sent, self.at_least, "frames", verdict, f"{sent} sent")]
""",
    "parts_lab/no_lab.py": "Nothing = 3\n",
}
ENTRIES = """
[plimsoll.labs]
our-twin = parts_lab.lab:Twin
nothing = parts_lab.no_lab:Nothing
[plimsoll.criteria]
least-frames = parts_lab.criterion:LeastFrames
gone = parts_lab.gone:Gone
"""


class Installed:
    """`plimsoll` beside what pip has installed into `target`."""

    def __init__(self, folder: Path, wheels: Sequence[Path]) -> None:
        self.folder, target = folder, folder / "installed"
        words = ["install", "--quiet", "--no-deps", "--no-index", "--target", target, *wheels]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True)
        self.environment = {**os.environ, "PYTHONPATH": f"{target}:{ROOT}"}

    def start(self, *words: object) -> subprocess.Popen[str]:
        argv = [sys.executable, "-m", "plimsoll", *map(str, words)]
        return subprocess.Popen(
            argv,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *words: object, code: int = 0) -> str:
        process = self.start(*words)
        out, err = process.communicate()
        assert process.returncode == code, err
        return out if code == 0 else err


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "sim.yaml"
    path.write_text(yaml.safe_dump(experiment().normalised()))
    return path


def finished(run: Path) -> int:
    journal = run / "journal.jsonl"
    return journal.read_text().count('"event":"trial"') if journal.exists() else 0


def test_a_method_of_another_distribution_is_like_ours(tmp_path: Path, written: Path) -> None:
    plimsoll = Installed(tmp_path, [method_wheel(tmp_path, "stairs", "stairs_lab")])
    assert "stairs" in plimsoll("--help")
    assert "--loads" in plimsoll("stairs", "--help")
    process = plimsoll.start("stairs", written, f"--loads={MANY}")
    while process.poll() is None and not any(map(finished, tmp_path.glob("runs/*"))):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (run,) = tmp_path.glob("runs/*")
    before = finished(run)
    plimsoll("stairs", "--resume", run)
    assert before <= finished(run)
    assert len(json.loads((run / "result.json").read_text())["stairs"]) == 150
    (listed,) = json.loads(plimsoll("runs", "list", "--method", "stairs", "--json"))
    assert listed["answer"]["text"] == "carries 649 kpps per direction"
    plimsoll("report", run, "--no-charts")
    assert "A staircase" in (run / "report.html").read_text()
    assert "rx-pps" in plimsoll("export", run, "--format", "csv")


def test_one_that_does_not_load_says_so_and_harms_nothing_else(
    tmp_path: Path, written: Path
) -> None:
    wheels = [method_wheel(tmp_path, f"stairs{number}", f"stairs{number}") for number in range(9)]
    broken = method_wheel(tmp_path, "broken-stairs", "broken_stairs", broken=True)
    taken = method_wheel(tmp_path, "lab", "lab_stairs")
    plimsoll = Installed(tmp_path, [*wheels, broken, taken])
    listed = plimsoll("--help")
    assert all(f"stairs{number}" in listed for number in range(9))
    said = plimsoll("broken-stairs", written, code=3)
    assert "a_module_that_nobody_has" in said
    assert "lab-broken_stairs" in said
    # A name of ours stays ours.
    assert "up" in plimsoll("lab", "--help")
    plimsoll("stairs3", written, "--loads=500kpps")
    assert json.loads(plimsoll("runs", "--json"))[0]["method"] == "stairs3"


def test_a_lab_and_a_criterion_of_another_distribution_are_like_ours(
    tmp_path: Path, written: Path
) -> None:
    plimsoll = Installed(tmp_path, [wheel(tmp_path, "parts_lab", PARTS, ENTRIES)])
    document = yaml.safe_load(written.read_text())
    document["lab"]["kind"] = "our-twin"
    document["criteria"] = [{"kind": "loss-ratio"}, {"kind": "least-frames", "at_least": 1}]
    written.write_text(yaml.safe_dump(document))
    plimsoll("check", written)
    listed = " ".join(plimsoll("lab", "list").split())
    assert "our twin of the DUT" in listed
    assert "lab-parts_lab does not load" in listed
    process = plimsoll.start("run", written)
    while process.poll() is None and not any(map(finished, tmp_path.glob("runs/*"))):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (run,) = tmp_path.glob("runs/*")
    plimsoll("run", "--resume", run)
    (listed,) = json.loads(plimsoll("runs", "list", "--dut", "our-twin", "--json"))
    assert listed["state"] == "finished"
    plimsoll("report", run, "--no-charts")
    assert "least frames" in (run / "report.html").read_text().lower()
    assert "rx-pps" in plimsoll("export", run, "--format", "csv")
    document["criteria"][1]["at_leest"] = 2
    written.write_text(yaml.safe_dump(document))
    assert "at_least" in plimsoll("check", written, code=2)
    document["lab"] = {"kind": "nothing"}
    written.write_text(yaml.safe_dump(document))
    said = plimsoll("check", written, code=3)
    assert "lab-parts_lab" in said
    assert "parts_lab.no_lab:Nothing" in said
