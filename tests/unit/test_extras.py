"""Optional dependencies: what adds them, and that nobody is sent to somebody else's project."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.extras import added_by, check_only_ours

ROOT = Path(__file__).resolve().parents[2]
# A name of ours as the Python package index would read it, whatever is around it.
BY_NAME = re.compile(
    r"""(pip3?|uv)\s+(add|install|tool)\b(?![^\n`]*--no-index)[^\n`]*
    [\s'"]plimsoll([_-]\w+)?(?![\w.-]*[/\d])""",
    re.VERBOSE,
)


FROM_A_FOLDER = "pip install --no-index --find-links DIR plimsoll-search"


def test_what_by_name_means_is_seen() -> None:
    for text in ("pip install plimsoll", "pip install 'plimsoll[kube]'", "uv add plimsoll>=1"):
        assert BY_NAME.search(text), text
    for text in (
        "pip install plimsoll_dataplane-0.1.0.tar.gz",
        "make build EXTRAS=kube",
        FROM_A_FOLDER,
    ):
        assert not BY_NAME.search(text), text


def test_nobody_is_told_to_install_it_by_name_from_the_package_index() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "*.py", "*.yaml", "*.txt", "Makefile", "Containerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    found = [
        f"{name}:{number}: {line.strip()}"
        for name in listed
        if name != Path(__file__).resolve().relative_to(ROOT).as_posix() and (ROOT / name).is_file()
        for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), 1)
        if BY_NAME.search(line)
    ]
    assert not found, "\n".join(found)


def test_in_a_checkout_make_adds_an_extra_and_elsewhere_the_file_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    assert re.search(r"-m pip install 'FILE\[kube\]'", added_by("kube"))
    (tmp_path / "build-aux").mkdir()
    (tmp_path / "build-aux" / "install-extras").touch()
    assert added_by("kube") == f"make -C {tmp_path} build EXTRAS=kube"


def test_another_project_of_the_same_import_name_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    check_only_ours()
    (tmp_path / "plimsoll-7.1.dist-info").mkdir()
    (tmp_path / "plimsoll-7.1.dist-info" / "METADATA").write_text("Name: plimsoll\nVersion: 7.1\n")
    with pytest.raises(MachineError, match=r"plimsoll 7\.1 is in this environment.*uninstall"):
        check_only_ours()


def test_an_extra_that_there_is_not_is_refused_with_those_there_are() -> None:
    asked = [sys.executable, str(ROOT / "build-aux" / "list-requirements.py"), "cube"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no extra cube: choose from analysis, console" in done.stderr
