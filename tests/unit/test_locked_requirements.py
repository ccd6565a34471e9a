"""requirements/ is what `make` installs: all that pyproject.toml asks for, each by its hash."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)(?: ; ([^\\]+?))? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")


def hashed(name: str) -> dict[str, str]:
    """All that is said of each package, its hashes among it, without the comments."""
    text = (ROOT / "requirements" / name).read_text()
    entries = re.split(r"^(?=[A-Za-z0-9])", re.sub(r"^ *#.*\n", "", text, flags=re.M), flags=re.M)
    return {entry.split("==")[0]: entry for entry in entries if entry}


def pinned(name: str) -> dict[str, set[str]]:
    """The versions of each package; any line that is neither pin, hash nor comment is refused."""
    versions: dict[str, set[str]] = {}
    hashes = 1
    for line in (ROOT / "requirements" / name).read_text().splitlines():
        if match := PIN.match(line):
            assert hashes, f"nothing before {line} has a hash"
            hashes = 0
            versions.setdefault(canonicalize_name(match[1]), set()).add(match[2])
        elif HASH.match(line):
            hashes += 1
        else:
            assert not line.strip() or line.lstrip().startswith("#"), line
    assert hashes
    return versions


def required(*extras: str) -> list[Requirement]:
    program = ROOT / "build-aux/list-requirements.py"
    said = subprocess.run(
        [sys.executable, program, *extras], capture_output=True, text=True, check=True
    )
    return [Requirement(line) for line in said.stdout.splitlines()]


@pytest.mark.parametrize(("name", "extras"), [("run.txt", ()), ("dev.txt", ("dev", "analysis"))])
def test_all_that_is_required_is_locked_to_versions_that_do(
    name: str, extras: tuple[str, ...]
) -> None:
    versions = pinned(name)
    for each in required(*extras):
        for version in versions[canonicalize_name(each.name)]:
            assert each.specifier.contains(version), f"make lock: {each} is locked to {version}"


def test_what_tests_install_over_what_runs_is_of_the_same_versions() -> None:
    dev = pinned("dev.txt")
    for name, versions in pinned("run.txt").items():
        assert dev[name] == versions


@pytest.mark.parametrize("name", ["package.txt", "image.txt"])
def test_packages_and_images_have_the_files_that_make_installs(name: str) -> None:
    """All that running needs, by the same hashes; what only building needs comes from elsewhere."""
    packaged = hashed(name)
    run = hashed("run.txt")
    build = run.keys() - packaged.keys()
    assert build == {"meson", "meson-python", "pyproject-metadata"}
    assert {name: packaged[name] for name in run.keys() - build} == {
        name: run[name] for name in run.keys() - build
    }
    dev = pinned("dev.txt")
    assert {each: dev.get(each) for each in pinned(name)} == pinned(name)
    # A run in a pod reaches observers on other nodes, and puts its record into a store.
    assert {"kubernetes", "obstore"} <= packaged.keys()


def test_the_debian_package_takes_no_file_without_its_hash() -> None:
    rules = (ROOT / "debian/rules").read_text().replace("\\\n", " ")
    pip = [line for line in rules.splitlines() if "-m pip" in line]
    assert len(pip) == 2
    assert all("--require-hashes -r requirements/package.txt" in line for line in pip)


def test_make_installs_nothing_but_what_is_locked() -> None:
    text = (ROOT / "Makefile").read_text()
    installs = re.findall(r"install-requirements \$\(BIN\)/python (.+)$", text, re.MULTILINE)
    assert installs == ["requirements/run.txt", "requirements/dev.txt"]
    assert " -r " not in text


def test_uv_is_the_one_that_is_locked() -> None:
    assert hashed("uv.txt")["uv"] == hashed("dev.txt")["uv"]


def benchmarks_without_dev() -> list[str]:
    """Modules that a target of the Makefile runs which installs run.txt alone."""
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^bench[a-z-]*: (.*?) ##.*\n((?:\t.*\n)+)", text, re.MULTILINE)
    recipes = "".join(recipe for needs, recipe in targets if "DEV_REQUIREMENTS" not in needs)
    scripts = re.findall(r"benchmarks[./][\w./]+", recipes)
    return [script.removesuffix(".py").replace("/", ".") for script in scripts]


def test_benchmarks_run_after_a_mere_make_build() -> None:
    """None imports what only dev.txt installs: such a package is made impossible to import."""
    dev = pinned("dev.txt").keys() - pinned("run.txt").keys()
    hidden = [
        name
        for name, owners in packages_distributions().items()
        if {canonicalize_name(owner) for owner in owners} <= dev
    ]
    assert "pytest" in hidden
    modules = benchmarks_without_dev()
    assert len(modules) > 5
    # In one process: each would import most of Plimsoll anew.
    program = "\n".join(
        [
            f"import sys; sys.modules.update(dict.fromkeys({hidden}))",
            *(f"import {m}" for m in modules),
        ]
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
