import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.record.query.breakout import Breakout, parse_breakouts
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("num", [("num", "every", (), "")]),
        ("port_pair,rx_port", [("port_pair", "every", (), ""), ("rx_port", "every", (), "")]),
        (" num , type ", [("num", "every", (), ""), ("type", "every", (), "")]),
        ("num=5+9", [("num", "values", ("5", "9"), "")]),
        ("num=5+5", [("num", "values", ("5",), "")]),
        ("dev=eth0=x", [("dev", "values", ("eth0=x",), "")]),
        (r"desc=a\,b\+c\\", [("desc", "values", ("a,b+c\\",), "")]),
        ("type=r", [("type", "values", ("r",), "")]),
        (r"type=\r/x", [("type", "values", ("r/x",), "")]),
        ("desc=r/i40e-.*/", [("desc", "each-match", (), "i40e-.*")]),
        ("desc=R/i40e-.*/,num", [("desc", "all-matches", (), "i40e-.*"), ("num", "every", (), "")]),
        # Commas and slashes within a regex; a slash before a comma only behind a backslash.
        ("desc=r/a{1,2}(x|y),z/", [("desc", "each-match", (), "a{1,2}(x|y),z")]),
        ("cgroup=r/kube/pod.*/c/", [("cgroup", "each-match", (), "kube/pod.*/c")]),
        (r"desc=r/a\/,b/,num", [("desc", "each-match", (), r"a\/,b"), ("num", "every", (), "")]),
        (r"desc=r/a\\/,num", [("desc", "each-match", (), r"a\\"), ("num", "every", (), "")]),
        ("a=r/x/,b=r/y/", [("a", "each-match", (), "x"), ("b", "each-match", (), "y")]),
    ],
)
def test_what_a_list_says(text: str, expected: list[tuple[object, ...]]) -> None:
    found = [(b.name, b.kind, b.values, b.pattern) for b in parse_breakouts(text)]
    assert found == expected


def test_columns_are_headed_as_typed() -> None:
    found = parse_breakouts("hostname=y37-h13-000-r740xd,num,desc=R/a,b/")
    assert [b.heading for b in found] == ["hostname=y37-h13-000-r740xd", "num", "desc=R/a,b/"]
    assert Breakout("num").heading == "num"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", ("--breakout",)),
        ("num,", ("--breakout", "num,")),
        ("num,,type", ("--breakout", "num,,type")),
        ("=5", ("--breakout", "=5")),
        ("num=", ("num=5+9",)),
        ("num=5++9", ("num=5+9",)),
        ("num=5+", ("num=5+9",)),
        ("desc=r/abc", ("desc=r/i40e-.*/",)),
        ("desc=r/abc/x", ("desc=r/i40e-.*/",)),
        (r"desc=r/abc\/", ("desc=r/i40e-.*/",)),
        ("desc=R//", ("desc=r/i40e-.*/",)),
        ("num,type,num=5", ("num",)),
        ("num\\", ("--breakout",)),
        ("num=5\\", ("--breakout",)),
    ],
)
def test_what_is_no_breakout_is_reported_with_its_remedy(
    text: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        parse_breakouts(text)
    assert caught.value.where == "--breakout"
    assert caught.value == says(*facts)
    assert repr(text) in caught.value.message


def escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\,+=/" else c for c in text)


# Blanks at the ends are not kept.
words = st.text(min_size=1, max_size=8).map(str.strip).filter(bool)
patterns = words.filter(lambda text: "\\" not in text)


@given(
    st.dictionaries(
        words,
        st.one_of(
            st.none(),
            st.lists(words.filter(lambda w: w[0] not in "rR"), min_size=1, unique=True),
            patterns,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_is_written_out_is_read_back(
    expected: dict[str, list[str] | str | None],
) -> None:
    items = []
    for name, of in expected.items():
        if of is None:
            items.append(escaped(name))
        elif isinstance(of, str):
            items.append(f"{escaped(name)}=r/{of.replace('/', chr(92) + '/')}/")
        else:
            items.append(f"{escaped(name)}={'+'.join(map(escaped, of))}")
    found = parse_breakouts(",".join(items))
    assert [b.name for b in found] == list(expected)
    for breakout, of in zip(found, expected.values(), strict=True):
        if isinstance(of, str):
            assert breakout.pattern.replace("\\/", "/") == of
        else:
            assert list(breakout.values) == (of or [])


@given(st.text(alphabet="ab=,+/\\rR ", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_breakouts(text)
    except InputError:
        return
    assert all(breakout.name for breakout in found)
