"""Hostile text in Markdown, read by a parser of another's making."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from plimsoll.report.markdown import markdown_text
from plimsoll.text.plain_text import plain_text

JOINER = "\u2060"
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def inline(markdown: str) -> list[Token]:
    """What is in the only paragraph; fails where there is any other block."""
    tokens = PARSER.parse(markdown)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    return tokens[1].children or []


def read_back(markdown: str) -> str:
    children = inline(markdown)
    assert {child.type for child in children} <= {"text", "text_special"}
    return "".join(child.content for child in children).replace(JOINER, "")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<!-- -->",
        "[click](javascript:alert(1))",
        "![x](http://evil.example/p.png)",
        "**bold** _it_ ~~no~~ `code`",
        "a | b | c",
        "# heading",
        "> quotation",
        "- item",
        "12. item",
        "1) item",
        "---",
        "===",
        "&lt;b&gt; &copy;",
        "back\\slash\\",
        "ends with \\",
        "$x$ <http://evil.example>",
        "load_line < 1.5Mpps",
    ],
)
def test_nothing_of_it_is_markup(text: str) -> None:
    assert read_back(markdown_text(text)) == text


@given(st.text(min_size=1, max_size=60))
def test_any_text_is_shown_as_it_is(text: str) -> None:
    # Blanks of several kinds are one to Markdown, at the ends none.
    shown = plain_text(text.strip())
    if shown.strip(" "):
        assert read_back(markdown_text(text)) == shown.strip(" ")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@octocat", f"@{JOINER}octocat"),
        ("fixes #12", f"fixes #{JOINER}12"),
        ("see www.evil.example", f"see www.{JOINER}evil.example"),
        ("https://evil.example", f"https:{JOINER}//evil.example"),
        (":tada:", f":{JOINER}tada:"),
    ],
)
def test_what_github_finds_in_the_text_is_broken_up(text: str, shown: str) -> None:
    assert "".join(child.content for child in inline(markdown_text(text))) == shown


def test_control_characters_are_written_out_and_long_text_is_cut() -> None:
    assert markdown_text("a\x1b[2Jb") == "a\\\\x1b\\[2Jb"
    assert markdown_text("abcdef", most=4) == "abc…"
