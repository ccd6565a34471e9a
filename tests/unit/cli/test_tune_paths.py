"""Paths that no file can have, and such as only root may look at: a mistake, not a failed check."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.errors import InputError

runner = CliRunner()
# One more than NAME_MAX of linux/limits.h, with a suffix more.
LONG = "a" * 256
NOBODY = 65534
OPTIONS = [
    ("audit", "--intent"),
    ("audit", "--root"),
    ("audit", "--intent", "bare-metal", "--from"),
    ("capture", "--output"),
    ("init", "--root"),
    ("reference", "-o", "x", "--"),
    ("reference", "bare-metal", "-o"),
    ("render", "-o", "x", "--"),
    ("render", "bare-metal", "-o"),
    ("render", "bare-metal", "-o", "x", "--topology"),
]


def refused(*arguments: str) -> str:
    """What the command says is wrong; it ends with 2."""
    result = runner.invoke(app, ["tune", *arguments])
    if isinstance(result.exception, InputError):
        assert result.exception.exit_code == 2
        assert result.exception.where
        assert result.exception.remedy
        return result.exception.message
    # Of some names typer says it first.
    assert isinstance(result.exception, SystemExit), (arguments, result.exception)
    assert result.exit_code == 2
    return result.output


@contextmanager
def nobody() -> Iterator[None]:
    """Without root's privileges, where the tests have them."""
    user = os.geteuid()
    os.seteuid(NOBODY if user == 0 else user)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("name", [LONG, f"{LONG}.yaml", f"{LONG}.tar.gz", "a\0b", "a\0b.tar.gz"])
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_an_impossible_name_is_bad_input(
    options: tuple[str, ...], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(*options, name)


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A directory that its owner closed to all, in one that all may enter."""
    for above in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        above.chmod(0o755)
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "intent.yaml").write_text("name: x\n")
    (folder / "host.tar.gz").touch()
    folder.chmod(0)
    return folder


@pytest.mark.parametrize(
    "options",
    [
        ("audit", "--intent", "CLOSED/intent.yaml"),
        ("audit", "--root", "CLOSED/host.tar.gz"),
        ("audit", "--root", "CLOSED"),
        ("audit", "--intent", "bare-metal", "--from", "CLOSED/must-gather"),
        ("render", "CLOSED/intent.yaml", "-o", "OUT"),
        ("render", "bare-metal", "-o", "CLOSED/out"),
        ("render", "bare-metal", "-o", "OUT", "--topology", "CLOSED/host.tar.gz"),
    ],
    ids=" ".join,
)
def test_what_may_not_be_seen_is_bad_input(
    options: tuple[str, ...], closed: Path, tmp_path: Path
) -> None:
    given = [
        each.replace("CLOSED", str(closed)).replace("OUT", str(tmp_path / "out"))
        for each in options
    ]
    # What is imported late may lie where only root reads.
    runner.invoke(app, ["tune", *given])
    with nobody():
        assert refused(*given).endswith("Permission denied")


def test_an_audit_needs_no_root() -> None:
    """Whatever this host is, its audit ends, and each check gives an answer."""
    options = ["tune", "audit", "--intent", "bare-metal", "--fix"]
    runner.invoke(app, options)
    with nobody():
        result = runner.invoke(app, options)
    assert result.exit_code in (0, 1)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.output.startswith("# ")
