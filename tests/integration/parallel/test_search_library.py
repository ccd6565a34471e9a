"""The library of searches from its wheel, alone in an environment, and next to Plimsoll."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.integration.command import ROOT

LIBRARY = ROOT / "packages/plimsoll-search"
SOURCE = LIBRARY / "src/plimsoll_search"
STRATEGIES = ("load-line", "mlrsearch", "binary", "checkpoints")
SEARCHES = """
from {package} import Finished, SimulatedTester, judged_by_loss, settings_of
tester = SimulatedTester({{"kind": "fixed-capacity"}})
settings = settings_of({{"minimum": "10kpps", "maximum": "2Mpps"}})
search = settings.begin(lambda field, rate: rate.value)
while not isinstance(asked := search.ask(), Finished):
    search.tell(judged_by_loss(tester.trial(asked), settings.loss_ratios))
print(asked.first.load_line_pps)
"""


class Environment:
    """A virtual environment that begins empty, and a folder of wheels."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        self.python = folder / "venv/bin/python"
        venv = [sys.executable, "-m", "venv", "--without-pip", folder / "venv"]
        subprocess.run(venv, check=True)

    def pip(self, *words: object) -> None:
        pip = [sys.executable, "-m", "pip", "--quiet", "--python", self.python, *words]
        subprocess.run([str(word) for word in pip], check=True, cwd=self.folder)

    def install(self, name: str, *words: str) -> None:
        self.pip("install", "--no-compile", *words, "--no-index", "--find-links", self.wheels, name)

    def run(self, program: str) -> str:
        argv = [self.python, "-I", "-c", program]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=self.folder)
        return done.stdout


def build_library(folder: Path) -> None:
    """From a copy, as the backend leaves its own files in the source."""
    copy = folder / "source"
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    shutil.copytree(LIBRARY, copy, ignore=ignored)
    words = ["wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    pip = [sys.executable, "-m", "pip", *words, "--wheel-dir", folder / "wheels", copy]
    subprocess.run(pip, check=True)


def packed_again(name: str, folder: Path) -> Path:
    """The wheel that a distribution of the tests' own environment was installed from."""
    found = distribution(name)
    about = next(Path(str(each)).parent for each in found.files or () if each.name == "WHEEL")
    (tag, *_) = re.findall(r"^Tag: (\S+)$", found.read_text("WHEEL") or "", re.MULTILINE)
    path = folder / f"{str(about).removesuffix('.dist-info')}-{tag}.whl"
    members = [
        each
        for each in found.files or ()
        # Commands are written, and modules compiled, when it is installed.
        if ".." not in each.parts and "__pycache__" not in each.parts and each.name != "RECORD"
    ]
    with zipfile.ZipFile(path, "w") as archive:
        for each in members:
            archive.write(str(each.locate()), str(each))
        record = "".join(f"{each},,\n" for each in members)
        archive.writestr(f"{about}/RECORD", f"{record}{about}/RECORD,,\n")
    return path


def needed_by(name: str) -> Iterator[str]:
    """The distribution, and what it needs without any extra."""
    yield name
    for requirement in distribution(name).requires or ():
        specifier, _, marker = requirement.partition(";")
        if not marker:
            yield from needed_by(re.split(r"[^\w.-]", specifier)[0])


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("library"))
    build_library(made.folder)
    for name in sorted(set(needed_by("pydantic"))):
        packed_again(name, made.wheels)
    packed_again("plimsoll-dataplane", made.wheels)
    return made


def test_it_installs_without_an_index_and_does_what_its_readme_shows(
    environment: Environment,
) -> None:
    environment.install("plimsoll-search")
    program = re.findall(r"```python\n(.*?)```", (LIBRARY / "README.md").read_text(), re.DOTALL)[0]
    found = [line.split()[:2] for line in environment.run(program).splitlines()]
    assert tuple(strategy for strategy, _ in found) == STRATEGIES
    assert all(6e5 <= float(load) <= 1e6 for _, load in found)


@pytest.mark.slow
def test_either_distribution_works_without_the_other(environment: Environment) -> None:
    """Plimsoll's other libraries are left out: its searches need pydantic alone."""
    environment.install("plimsoll-search")
    environment.install("plimsoll-dataplane", "--no-deps")
    environment.pip("uninstall", "--yes", "plimsoll-dataplane")
    assert float(environment.run(SEARCHES.format(package="plimsoll_search"))) > 9e5
    environment.install("plimsoll-dataplane", "--no-deps")
    environment.pip("uninstall", "--yes", "plimsoll-search")
    assert float(environment.run(SEARCHES.format(package="plimsoll.search"))) > 9e5
    with pytest.raises(subprocess.CalledProcessError):
        environment.run("import plimsoll_search")


def files_of(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_plimsoll_carries_every_file_of_the_library(environment: Environment) -> None:
    """And installs none where the library does: removing one takes nothing of the other."""
    (wheel,) = environment.wheels.glob("plimsoll_dataplane-*.whl")
    (library,) = environment.wheels.glob("plimsoll_search-*.whl")
    assert files_of(wheel).isdisjoint(files_of(library))
    with zipfile.ZipFile(wheel) as archive:
        carried = {
            name.removeprefix("plimsoll/search/"): archive.read(name)
            for name in archive.namelist()
            if name.startswith("plimsoll/search/")
        }
    source = {
        path.relative_to(SOURCE).as_posix(): path.read_bytes()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert carried == source
