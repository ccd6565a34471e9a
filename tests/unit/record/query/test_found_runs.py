from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.record.query.queried_run import find_runs
from plimsoll.record.run.run_directory import RunDirectory
from tests.worded.says import Says

IDS = ["20260101T120000-demo", "20260102T120000-demo", "20260103T120000-soak"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for run_id in IDS:
        RunDirectory.within(tmp_path / run_id, {})
    (tmp_path / "20260104T120000-file").write_text("")
    (tmp_path / "notes").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["last"], IDS[2:]),
        (["20260102"], IDS[1:2]),
        ([IDS[0], "20260103"], [IDS[0], IDS[2]]),
        (["*-demo"], IDS[:2]),
        (["2026010[13]*", "last", IDS[0]], [IDS[0], IDS[2]]),
    ],
)
def test_runs_are_named_by_id_beginning_and_pattern(
    root: Path, texts: list[str], expected: list[str]
) -> None:
    assert [run.run_id for run in find_runs(texts, root)] == expected


def test_paths_and_patterns_of_paths(root: Path) -> None:
    found = find_runs([str(root / IDS[1]), f"{root}/*-soak"], root.parent)
    assert [run.run_id for run in found] == [IDS[1], IDS[2]]


@pytest.mark.parametrize("text", ["2027*", "n?tes"])
def test_a_pattern_without_a_run_is_an_error(root: Path, text: str, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        find_runs([text], root)
    assert caught.value == says()
    assert caught.value.where == f"--run {text}"
    assert "in quotes" in caught.value.remedy
