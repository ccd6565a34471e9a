"""What is said of a redirection: where it leads, and nothing that is secret."""

import pytest

from plimsoll.host.http.origin import Redirected
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("location", "facts"),
    [
        ("https://other/login?next=%2Fapi", ("https://other/login",)),
        ("/login", ("https://host:1/login",)),
        ("//other/x", ("https://other/x",)),
        ("https://jo:hunter2@other/", ("https://other/",)),
        ("https://other/\x1b[31m", ("https://other/\\x1b[31m",)),
        ("https://[half", ("https://[half",)),
        (None, ()),
        ("", ()),
    ],
)
def test_where_it_leads(location: str | None, facts: tuple[str, ...], says: Says) -> None:
    error = Redirected("https://host:1/api?token=secret", 302, location, setting="--to")
    assert error == says("HTTP", "302", "--to", *facts)
    assert error.where == "https://host:1/api"


def test_a_long_one_is_cut() -> None:
    error = Redirected("https://host", 302, "https://other/" + "x" * 10_000, setting="--to")
    assert len(error.message) < 400
