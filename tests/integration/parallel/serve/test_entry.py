"""How browsers and scripts come in: a link that opens once, the token, and nothing else."""

import re
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from tests.integration.command import until
from tests.integration.parallel.chromium import needs_chromium, serious_of
from tests.integration.parallel.serve.served import Served, plimsoll, served

AHEAD = (
    ("Sec-Purpose", "prefetch"),
    ("Sec-Purpose", "prefetch;prerender"),
    ("X-Moz", "prefetch"),
    ("Purpose", "preview"),
)
HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("entered")
    (folder / "runs").mkdir()
    with served(folder) as running:
        yield running


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    """One whose link has not been opened."""
    (tmp_path / "runs").mkdir()
    with served(tmp_path) as running:
        yield running


def unknown(server: Served, method: str, path: str, **headers: str) -> int:
    return server.send(method, path, b"{}" if method == "POST" else None, headers).status


def link_of(server: Served) -> str:
    return server.entry.removeprefix(server.address)


@pytest.mark.parametrize(
    "path",
    ["/", "/assets/app.js", "/experiments/new", "/experiments/schema.json", "/trend", "/nowhere",
     "/?token=wrong", "/?code=wrong"],
)  # fmt: skip
def test_nothing_is_given_to_those_who_are_not_known(server: Served, path: str) -> None:
    assert unknown(server, "GET", path) == 401
    assert unknown(server, "HEAD", path) == 401


def test_nothing_is_done_for_those_who_are_not_known(server: Served) -> None:
    own = {"Origin": server.address, "Content-Type": "application/json"}
    for path in ("/experiments/check", "/experiments/start", "/runs/x/stop", "/runs/x/resume"):
        assert unknown(server, "POST", path, **own) == 401


def test_what_a_page_holds_opens_nothing_to_those_who_read_it(server: Served) -> None:
    """At 894a23dd whoever read a page of the loopback had the key that starts experiments."""
    page = server.send("GET", "/", None, HTML)
    assert page.status == 401
    assert "plimsoll-key" not in page.text
    assert server.token not in server.get("/").text


def test_the_token_is_in_a_file_that_only_its_user_reads(server: Served) -> None:
    assert stat.S_IMODE(server.token_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.token_file.parent.stat().st_mode) == 0o700
    assert len(server.token) >= 32
    assert server.token not in server.entry


def test_scripts_send_the_token_in_a_header(server: Served) -> None:
    assert server.send("GET", "/", None, server.bearer).status == 200
    sent = {**server.bearer, "Content-Type": "application/json"}
    assert server.send("POST", "/experiments/check", b"{}", sent).status == 200


@pytest.mark.parametrize(
    "header",
    ["Bearer wrong", "Bearer", "Bearer ", "Basic {token}", "{token}", "Bearer {token}x",
     "Bearer \xff", "Bearer {token} {token}"],
)  # fmt: skip
def test_another_header_opens_nothing(server: Served, header: str) -> None:
    given = header.format(token=server.token)
    assert unknown(server, "GET", "/", Authorization=given) == 401


def test_a_wrong_token_is_not_made_good_by_a_cookie(server: Served) -> None:
    assert server.get("/", Authorization="Bearer wrong").status == 401


def test_the_link_opens_once(fresh: Served) -> None:
    # What looks at it ahead of the user does not use it up.
    looks = [("HEAD", {}), *(("GET", {name: value}) for name, value in AHEAD)]
    for method, headers in looks:
        looked = fresh.send(method, link_of(fresh), None, headers)
        assert looked.status == 204
        assert "set-cookie" not in looked.headers
    entered = fresh.send("GET", link_of(fresh), None, HTML)
    assert (entered.status, entered.headers["location"]) == (303, "/")
    assert entered.headers["referrer-policy"] == "no-referrer"
    cookie, *attributes = entered.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} == set(attributes)
    assert fresh.token not in cookie
    assert fresh.send("GET", "/", None, {"Cookie": cookie}).status == 200
    again = fresh.send("GET", link_of(fresh), None, HTML)
    assert again.status == 303
    assert "set-cookie" not in again.headers
    # With the server, however it ends, its token goes.
    fresh.process.kill()
    until(lambda: not fresh.token_file.exists(), "the janitor")


def test_a_session_is_not_the_token_and_one_is_not_another(server: Served) -> None:
    first, second = server.new_session(), server.new_session()
    assert first != second
    assert server.token not in first
    name, _, value = first.partition("=")
    assert unknown(server, "GET", "/", Authorization=f"Bearer {value}") == 401
    assert unknown(server, "GET", "/", Cookie=f"{name}={server.token}") == 401
    assert unknown(server, "GET", "/", Cookie=f"{name}={value[:-1]}") == 401


def test_the_form_takes_the_token_and_leads_on(server: Served) -> None:
    page = server.send("GET", "/trend?by=kernel", None, HTML)
    assert page.status == 401
    assert 'name="next" value="/trend?by=kernel"' in page.text
    entered = server.log_in(server.token, "/trend?by=kernel")
    assert (entered.status, entered.headers["location"]) == (303, "/trend?by=kernel")
    wrong = server.log_in("wrong")
    assert wrong.status == 401
    assert "set-cookie" not in wrong.headers
    assert "This is not the token." in wrong.text


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "http://evil.example/", "", "x", "/\r\nX: y"]
)
def test_a_login_leads_to_no_other_site(server: Served, path: str) -> None:
    assert server.log_in(server.token, path).headers["location"] == "/"
    led = server.get(f"/login?{urlencode({'next': path})}")
    assert (led.status, led.headers["location"]) == (303, "/")


def test_another_site_logs_nobody_in(server: Served) -> None:
    assert server.log_in(server.token, Origin="http://evil.example").status == 403
    assert server.log_in("x" * 20_000).status == 401


def test_a_token_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    mine = tmp_path / "mine"
    mine.write_text("0123456789abcdef" * 4 + "\n")
    mine.chmod(0o600)
    with served(tmp_path, "--token-file", mine) as running:
        assert running.token_file == mine
        assert running.send("GET", "/", None, running.bearer).status == 200
    assert mine.exists()


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        ("0123456789abcdef" * 4, 0o644, "others may read it"),
        ("0123456789abcdef" * 4, 0o620, "others may read it"),
        ("short", 0o600, "holds no token"),
        ("two words " * 8, 0o600, "blanks"),
    ],
)
def test_a_token_that_others_may_know_is_refused(
    tmp_path: Path, content: str, mode: int, said: str
) -> None:
    mine = tmp_path / "mine"
    mine.write_text(content)
    mine.chmod(mode)
    done = plimsoll(tmp_path, "serve", "--token-file", mine)
    assert done.returncode == 2
    assert said in done.stderr
    assert content not in done.stderr


@needs_chromium
def test_a_browser_comes_in_by_the_link(browser: Browser, fresh: Served) -> None:
    page = browser.new_page()
    page.goto(fresh.entry)
    expect(page).to_have_url(f"{fresh.address}/")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    other = browser.new_page()
    other.goto(fresh.entry)
    expect(other.get_by_role("heading", name="Log in")).to_be_visible()
    page.close()
    other.close()


@needs_chromium
def test_a_browser_comes_in_by_the_token(browser: Browser, server: Served) -> None:
    page = browser.new_page()
    page.goto(f"{server.address}/trend")
    assert serious_of(page) == []
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_have_text("This is not the token.")
    page.get_by_label("Token").fill(server.token)
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(f"{server.address}/trend")
    page.close()


@needs_chromium
def test_a_known_browser_follows_a_link_of_another_site(browser: Browser, server: Served) -> None:
    """The cookie is not sent then (SameSite=Strict), and the page asks for itself again."""
    page = browser.new_page()
    page.goto(f"{server.address}/login")
    page.get_by_label("Token").fill(server.token)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.route(
        "http://wiki.example/",
        lambda route: route.fulfill(
            content_type="text/html", body=f'<a href="{server.address}/trend?by=kernel">trend</a>'
        ),
    )
    page.goto("http://wiki.example/")
    page.get_by_role("link", name="trend").click()
    expect(page).to_have_url(f"{server.address}/trend?by=kernel")
    expect(page.get_by_role("heading", name="Trend").first).to_be_visible()
    page.context.clear_cookies()
    page.goto("http://wiki.example/")
    page.get_by_role("link", name="trend").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.locator('input[name="next"]')).to_have_value(re.compile("/trend.by=kernel"))
    page.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--no-token"], "every user of this machine could run experiments as root"),
        (["--no-token", "--listen", "unix:lab.sock"], "a Unix socket takes no token"),
        (["--token-file", "x", "--listen", "unix:lab.sock"], "a Unix socket takes no token"),
        (["--token-file", "nowhere"], "nowhere: cannot be read"),
        (["--allow-program", "./nowhere"], "there is no ./nowhere"),
        (["--listen", "unix:"], "names no socket"),
        (["--listen", "unix:" + 108 * "x"], "names no socket"),
    ],
)
def test_what_it_is_not_started_with(tmp_path: Path, words: list[str], said: str) -> None:
    done = plimsoll(tmp_path, "serve", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert words[0] in done.stderr
