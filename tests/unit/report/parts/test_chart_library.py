"""The charts' library is bundled once and kept; what others may have written is never run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import vl_convert

from plimsoll.report.parts.page import chart_library, chart_library_file

BUNDLED = "/* bundled */"


@pytest.fixture
def bundling(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """What vl-convert was given to bundle, in a cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    given: list[str] = []

    def bundle(snippet: str) -> str:
        given.append(snippet)
        return BUNDLED

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    chart_library.cache_clear()
    yield given
    chart_library.cache_clear()


def another_command() -> str:
    chart_library.cache_clear()
    return chart_library()


def test_it_is_bundled_once_for_all_commands(bundling: list[str]) -> None:
    assert chart_library() == BUNDLED
    assert another_command() == BUNDLED
    assert bundling == ["window.vegaEmbed = vegaEmbed;"]
    assert chart_library_file().stat().st_mode & 0o777 == 0o600


def test_another_version_of_vl_convert_bundles_its_own(
    bundling: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chart_library()
    monkeypatch.setattr("plimsoll.report.parts.page.version", lambda _: "99.0")
    assert another_command() == BUNDLED
    assert len(bundling) == 2


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_may_write_to_is_bundled_anew(bundling: list[str], mode: int) -> None:
    chart_library()
    kept = chart_library_file()
    kept.write_text("alert('mine')")
    kept.chmod(mode)
    assert another_command() == BUNDLED
    assert kept.read_text() == BUNDLED
    assert another_command() == BUNDLED
    assert len(bundling) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file away")
def test_a_file_of_another_user_is_bundled_anew(bundling: list[str]) -> None:
    chart_library()
    kept = chart_library_file()
    kept.write_text("alert('mine')")
    os.chown(kept, 65534, 65534)
    assert another_command() == BUNDLED
    assert kept.stat().st_uid == 0


def test_a_link_an_empty_file_and_a_pipe_are_not_read(bundling: list[str], tmp_path: Path) -> None:
    kept = chart_library_file()
    kept.parent.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere.js"
    elsewhere.write_text("alert('mine')")
    for spoil in (
        lambda: kept.symlink_to(elsewhere),
        kept.touch,
        lambda: os.mkfifo(kept),
    ):
        spoil()
        assert another_command() == BUNDLED
        kept.unlink()
    assert len(bundling) == 3
    assert elsewhere.read_text() == "alert('mine')"


def test_without_a_place_to_keep_it_each_command_bundles_it(
    bundling: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert chart_library() == BUNDLED
    assert another_command() == BUNDLED
    assert len(bundling) == 2


def test_a_user_without_a_home(bundling: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setattr(Path, "home", homeless)
    assert chart_library() == BUNDLED
    assert bundling
