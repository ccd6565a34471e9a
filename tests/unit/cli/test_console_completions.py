"""What Tab offers in `plimsoll console`."""

import pytest

from plimsoll.cli.console.console import completions

STREAMS = ["load", "load/0-1", "probe"]


@pytest.mark.parametrize(
    ("before", "offered"),
    [
        ("sta", ["start", "stats"]),
        ("qu", ["quit"]),
        ("start ", ["load", "load/0-1", "probe", "for"]),
        ("start lo", ["load", "load/0-1"]),
        ("start load pr", ["probe"]),
        ("stop p", ["probe"]),
        ("rate load/", ["load/0-1"]),
        ("load ", []),
        ("link 0 d", ["down"]),
        ("help st", ["start", "stop", "stats", "streams"]),
        ("nonsense ", []),
    ],
)
def test_words_that_may_stand_there_are_offered(before: str, offered: list[str]) -> None:
    assert list(completions(before, STREAMS)) == offered
