"""What is said of a redirection: where it leads, and nothing that is secret."""

import pytest

from plimsoll.host.http.redirected import Redirected


@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("https://other/login?next=%2Fapi", "https://other/login "),
        ("/login", "https://host:1/login "),
        ("//other/x", "https://other/x "),
        ("https://jo:hunter2@other/", "https://other/ "),
        ("https://other/\x1b[31m", r"https://other/\x1b[31m "),
        ("https://[half", "https://[half "),
        (None, "a place that it does not name "),
        ("", "a place that it does not name "),
    ],
)
def test_where_it_leads(location: str | None, named: str) -> None:
    error = Redirected("https://host:1/api?token=secret", 302, location, setting="--to")
    assert f"the server redirects to {named}(HTTP 302)" in error.message
    assert error.where == "https://host:1/api"
    assert error.remedy == "if that is the right server, write its address in --to"


def test_a_long_one_is_cut() -> None:
    error = Redirected("https://host", 302, "https://other/" + "x" * 10_000, setting="--to")
    assert len(error.message) < 400
