"""The command in locales that are not UTF-8: what it writes is the same, what it shows is not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CHARMAPS = Path("/usr/share/i18n/charmaps")


@pytest.fixture(scope="module", params=[("ru_RU", "KOI8-R"), ("en_US", "ISO-8859-1")])
def locale_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, str]]:
    """A locale's encoding and its environment, made by localedef."""
    language, encoding = request.param
    if shutil.which("localedef") is None or not CHARMAPS.is_dir():
        pytest.skip("needs localedef and the sources of locales (apt install locales)")
    folder = tmp_path_factory.mktemp("locales")
    name = f"{language}.{encoding}"
    # It ends with 1 where it has warned of something.
    subprocess.run(
        ["localedef", "-i", language, "-f", encoding, str(folder / name)],
        capture_output=True,
        check=False,
    )
    assert (folder / name / "LC_CTYPE").is_file()
    return encoding, {"LOCPATH": str(folder), "LC_ALL": name}


def plimsoll(
    *words: str, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    own = {name: text for name, text in os.environ.items() if name not in ("PYTHONUTF8", "LANG")}
    state = {"PYTHONPATH": str(ROOT), "PLIMSOLL_STATE": str(folder / "state")}
    return subprocess.run(
        [sys.executable, "-m", "plimsoll.cli", *(word.encode() for word in words)],
        cwd=folder,
        env={**own, **state, **environment},
        capture_output=True,
        check=False,
    )


def test_a_run_is_recorded_and_shown(locale_of: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    encoding, environment = locale_of
    words = ("simulate", "fixed-capacity", "--runs", "größe-ё")
    done = plimsoll(*words, folder=tmp_path, environment=environment)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    # The folder is the one that was named, byte by byte.
    (run,) = (tmp_path / "größe-ё").iterdir()
    assert "µs" in (run / "report.html").read_text(encoding="utf-8")
    # And the terminal gets what it can show.
    shown = done.stderr.decode(encoding)
    assert ("µs" in shown) == (encoding == "ISO-8859-1")
    assert "ms" in shown
    noted = plimsoll(
        *("runs", "note", run.name, "größe → ё", "--runs", "größe-ё"),
        folder=tmp_path,
        environment=environment,
    )
    assert noted.returncode == 0, noted.stderr
    assert "größe → ё" in (run / "notes.json").read_text(encoding="utf-8")
    for words in (("runs", "check", run.name), ("runs", "show", run.name), ("runs", "list")):
        done = plimsoll(*words, "--runs", "größe-ё", folder=tmp_path, environment=environment)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
