"""The table of trafficgen's options in docs/searches.md."""

import re
from collections import Counter
from pathlib import Path

from plimsoll.benchmark.trafficgen.options import OPTIONS

_PAGE = Path(__file__).resolve().parents[4] / "docs" / "searches.md"
# Of bench-trafficgen's binary-search.py at d81d481, counted in its source.
_THEIRS = 124


def _parts() -> list[tuple[int, list[str]]]:
    """The number in each part's heading, and the options that the part names."""
    table = _PAGE.read_text().split("## From trafficgen's")[1]
    parts = re.split(r"^### .*\((\d+)\)$", table, flags=re.MULTILINE)
    return [(int(n), _named(text)) for n, text in zip(parts[1::2], parts[2::2], strict=True)]


def _named(text: str) -> list[str]:
    """Those in the first column of the table, and those after `--astf-…` in parentheses."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    named = [option for row in rows for option in re.findall(r"`--([a-z0-9-]+)`", row)]
    listed = re.search(r"`--astf-…` \((.*?)\)", text)
    tails = re.findall(r"`([a-z0-9-]+)`", listed[1]) if listed else []
    return named + [f"astf-{tail}" for tail in tails]


def test_every_part_names_as_many_options_as_its_heading_says() -> None:
    assert [len(named) for _, named in _parts()] == [number for number, _ in _parts()]


def test_every_option_of_theirs_is_named_once() -> None:
    named = Counter(option for _, part in _parts() for option in part)
    assert set(named.values()) == {1}
    assert len(named) == _THEIRS
    assert set(named) == set(OPTIONS)
