"""The CSV that MoonGen writes of its latencies, and what is none.

That of a real one is in `recordings/moongen-7746ff2-igb.jsonl`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.generator.interface import GeneratorDied
from plimsoll.generator.moongen.generator import read_latencies
from tests.worded.says import Says


def written(folder: Path, text: str) -> Path:
    file = folder / "latencies.csv"
    file.write_text(text)
    return file


def test_a_latency_and_how_often_it_was_seen_are_a_line(tmp_path: Path) -> None:
    # 70001.6 is of a card whose ticks are no whole ns, and so is 69999.9.
    read = read_latencies(written(tmp_path, "15.5,1\n160,3\n69999.9,1\n70001.6,2\n70000,4\n"))
    assert read == {16: 1, 160: 3, 70_000: 5, 70_002: 2}


def test_without_latencies_there_are_none(tmp_path: Path) -> None:
    assert read_latencies(written(tmp_path, "")) == {}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("160,3\n170,1", ("170,1",)),
        ("160,3\n\n", ("MoonGen", "latencies.csv")),
        ("-16,3\n", ("-16,3",)),
        ("nan,1\n", ("nan,1",)),
        ("1e+15,1\n", ("1e+15,1", "MoonGen", "latencies.csv")),
        ("160\n", ("160",)),
        ("160,0x10\n", ("160,0x10", "MoonGen", "latencies.csv")),
        ("999999999999,1\n", ("999999999999,1",)),
        ("160,3\u00b2\n", ("ascii", "MoonGen", "latencies.csv", "5")),
    ],
)
def test_another_file_is_refused(
    tmp_path: Path, text: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(GeneratorDied) as refused:
        read_latencies(written(tmp_path, text))
    assert refused.value == says(*facts)


def test_a_file_that_is_missing_is_named(tmp_path: Path, says: Says) -> None:
    with pytest.raises(GeneratorDied) as caught:
        read_latencies(tmp_path / "gone.csv")
    assert caught.value == says("gone.csv")
