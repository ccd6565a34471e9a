import subprocess
import sys

import pytest
import yaml

from plimsoll.text.bounded_yaml import MOST_DEEP, QUICK_LOADER, check_bounds, load_yaml

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
def test_a_hundred_thousand_levels_are_refused_and_end_no_process(text: str) -> None:
    """In a process of its own: what this guards against is a segmentation fault."""
    program = (
        "import sys\nfrom plimsoll.text.bounded_yaml import load_yaml\n"
        "try:\n    load_yaml(sys.stdin.read())\nexcept ValueError as e:\n    print(e)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], input=text, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "line 1: is nested too deeply")


@pytest.mark.parametrize("loader", LOADERS)
def test_the_deepest_that_is_taken_is_taken(loader: type) -> None:
    check_bounds("[" * MOST_DEEP + "]" * MOST_DEEP, loader)
    with pytest.raises(yaml.MarkedYAMLError, match="nested too deeply"):
        check_bounds("[" * (MOST_DEEP + 1) + "]" * (MOST_DEEP + 1), loader)


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "aliases unfolded"),
        ("a: &x [*x]\n", "a part of"),
        ("a: &x {b: [1, *x]}\n", "a part of"),
    ],
)
def test_aliases_that_unfold_without_end_are_refused(loader: type, text: str, said: str) -> None:
    with pytest.raises(yaml.MarkedYAMLError, match=said):
        check_bounds(text, loader)


def test_where_no_alias_may_be_an_anchor_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2: has an anchor or alias"):
        load_yaml("a: 1\nb: &x 2\n", aliases=False)


@pytest.mark.parametrize(
    "text", ["a: [", "\x00", "!!python/object/apply:os.getpid []", "a: *nothing", "- a\n--- b"]
)
def test_what_is_no_plain_yaml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"line \d+: |is not YAML"):
        load_yaml(text)
