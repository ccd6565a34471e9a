import subprocess
import sys

import pytest
import yaml

from plimsoll.text.bounded_yaml import MAX_DEEP, QUICK_LOADER, check_bounds, load_yaml
from tests.worded.says import Says

LOADERS = [yaml.SafeLoader, QUICK_LOADER]
# Ten levels, each ten times the one before: ten thousand million values in a few lines.
BOMB = "a: &a0 [x]\n" + "".join(
    f"{chr(98 + n)}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(10)
)


def test_plain_values_come_back_as_they_are() -> None:
    assert load_yaml("a: [1, 0.5, text]\nb: {c: null}\n") == {
        "a": [1, 0.5, "text"],
        "b": {"c": None},
    }
    assert load_yaml("a: &x [1, 2]\nb: *x\nc: {<<: {d: 1}}\n") == {
        "a": [1, 2],
        "b": [1, 2],
        "c": {"d": 1},
    }


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 50_000, "- " * 100_000])
def test_a_hundred_thousand_levels_are_refused_and_end_no_process(text: str, says: Says) -> None:
    """In a process of its own: what this guards against is a segmentation fault."""
    program = (
        "import sys\nfrom plimsoll.text.bounded_yaml import load_yaml\n"
        "try:\n    load_yaml(sys.stdin.read())\nexcept ValueError as e:\n    print(e)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], input=text, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0
    assert ended.stdout.strip() == says("1")


@pytest.mark.parametrize("loader", LOADERS)
def test_the_deepest_that_is_taken_is_taken(loader: type, says: Says) -> None:
    check_bounds("[" * MAX_DEEP + "]" * MAX_DEEP, loader)
    with pytest.raises(yaml.MarkedYAMLError) as caught:
        check_bounds("[" * (MAX_DEEP + 1) + "]" * (MAX_DEEP + 1), loader)
    assert caught.value == says("1")


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (BOMB, ()),
        ("a: &x [*x]\n", ()),
        ("a: &x {b: [1, *x]}\n", ()),
    ],
)
def test_aliases_that_unfold_without_end_are_refused(
    loader: type, text: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(yaml.MarkedYAMLError) as caught:
        check_bounds(text, loader)
    assert caught.value == says(*facts)


def test_where_no_alias_may_be_an_anchor_is_refused(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        load_yaml("a: 1\nb: &x 2\n", aliases=False)
    assert caught.value == says("2")


@pytest.mark.parametrize(
    "text", ["a: [", "\x00", "!!python/object/apply:os.getpid []", "a: *nothing", "- a\n--- b"]
)
def test_what_is_no_plain_yaml_is_a_value_error(text: str, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        load_yaml(text)
    assert caught.value == says()
