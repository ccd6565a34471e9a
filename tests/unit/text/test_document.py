"""User files read into models: what is wrong, on which line, and what to do."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.errors import InputError
from plimsoll.text import document
from plimsoll.text.document import parse_document, read_document
from plimsoll.text.units import DurationField, RateField, RatioField


class _Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Cat(_Forbidding):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=1)] = 9
    toys: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)] = ("ball",)
    tag: Annotated[str, Field(pattern=r"^[a-z]{1,64}$")] = "c"
    home: tuple[int, int] = (0, 0)
    call: Annotated[str, Field(min_length=2, max_length=3)] = "mew"


class Dog(_Forbidding):
    kind: Literal["dog"]
    tricks: list[str] = []


class Walk(_Forbidding):
    length: Annotated[DurationField, Field(ge=0.1, le=7 * 86400)] = 60.0
    pause: Annotated[DurationField, Field(gt=1e-6, lt=1.5)] | None = None
    share: Annotated[RatioField, Field(ge=1e-6)] = 0.5
    days: tuple[int, ...] = ()
    outdoors: bool = True
    speed: float = 1.0


class Owner(_Forbidding):
    name: str
    walk: Walk = Walk()
    rate: RateField | None = None
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
    favourite: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None


def _load(folder: Path, text: str) -> Owner:
    path = folder / "owner.yaml"
    path.write_text(text, encoding="utf-8")
    return read_document(path).validate(Owner)


def _mistake(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        _load(folder, text)
    return str(caught.value).removeprefix(f"{folder}/")


def test_yaml_is_read(tmp_path: Path) -> None:
    owner = _load(tmp_path, "name: Ada\npets:\n  - kind: cat\n    lives: 7\n")
    assert owner == Owner(name="Ada", pets=[Cat(kind="cat", lives=7)])


def test_json_indented_with_tabs_is_read(tmp_path: Path) -> None:
    owner = _load(tmp_path, '{\n\t"name": "Ada",\n\t"pets": [{"kind":"dog"}]\n}')
    assert owner.pets == [Dog(kind="dog")]


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (
            "name: Ada\nrat: 5kpps\n",
            "owner.yaml:2: rat: unknown field (did you mean rate?)",
        ),
        (
            "name: Ada\npets:\n  - kind: cat\n    live: 7\n",
            "owner.yaml:4: pets[0].live: unknown field (did you mean lives?)",
        ),
        (
            "name: Ada\npets:\n  - kind: dog\n    lives: 7\n",
            "owner.yaml:4: pets[0].lives: unknown field (use one of kind, tricks)",
        ),
        (
            "name: Ada\npets:\n  - kind: cow\n",
            "owner.yaml:3: pets[0]: unknown kind 'cow' (use one of cat, dog)",
        ),
        (
            "name: Ada\nfavourite:\n  kind: cats\n",
            "owner.yaml:2: favourite: unknown kind 'cats' (did you mean cat?)",
        ),
        ("name: Ada\npets:\n  - lives: 3\n", "owner.yaml:3: pets[0]: has no kind (add `kind:`)"),
        ("rate: 5pps\n", "owner.yaml:1: name: is missing (add `name:`)"),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  lives: 0\n",
            "owner.yaml:4: favourite.lives: found 0 (give at least 1)",
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  toys: []\n",
            "owner.yaml:4: favourite.toys: found [] (give at least 1)",
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  toys: [a, b, c]\n",
            "owner.yaml:4: favourite.toys: found ['a', 'b', 'c'] (give at most 2)",
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  tag: my cat\n",
            "owner.yaml:4: favourite.tag: found 'my cat' (use letters, digits, . _ - and at "
            "most 64 characters, the first a letter or a digit)",
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  home: [1]\n",
            "owner.yaml:4: favourite.home[1]: is missing (add a value)",
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  home: [1, 2, 3]\n",
            "owner.yaml:4: favourite.home: found [1, 2, 3] (give at most 2)",
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  call: m\n",
            "owner.yaml:4: favourite.call: found 'm' (give at least 2 character(s))",
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  call: meow\n",
            "owner.yaml:4: favourite.call: found 'meow' (give at most 3 character(s))",
        ),
        (
            "name: Ada\nrate: 0\n",
            "owner.yaml:2: rate: a rate of 0 sends nothing (give a rate above zero)",
        ),
    ],
)
def test_a_mistake_is_reported_with_line_field_and_remedy(
    tmp_path: Path, text: str, mistake: str
) -> None:
    assert _mistake(tmp_path, text) == mistake


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("walk: {length: 8d}", "walk.length: found '8d' (give at most 7d)"),
        ("walk: {length: 9000h}", "walk.length: found '9000h' (give at most 7d)"),
        ("walk: {length: 1ns}", "walk.length: found '1ns' (give at least 100ms)"),
        ("walk: {length: 700000s}", "walk.length: found '700000s' (give at most 7d)"),
        ("walk: {length: 0.01s}", "walk.length: found '0.01s' (give at least 100ms)"),
        ("walk: {pause: 1us}", "walk.pause: found '1us' (give more than 1us)"),
        ("walk: {pause: 1m30s}", "walk.pause: found '1m30s' (give less than 1500ms)"),
        ("walk: {share: 0.00001%}", "walk.share: found '0.00001%' (give at least 0.0001%)"),
        ("walk: {days: 5}", "walk.days: found 5 (write [5])"),
        ("walk: {days: 0-1}", "walk.days: found '0-1' (write a list, such as [0, 1])"),
        ("walk: {days: true}", "walk.days: found true (write a list, such as [0, 1])"),
        ("walk: {days: [x]}", "walk.days[0]: found 'x' (write a whole number)"),
        ("walk: {days: [1.5]}", "walk.days[0]: found 1.5 (write a whole number)"),
        ("walk: {outdoors: perhaps}", "walk.outdoors: found 'perhaps' (write true or false)"),
        ("walk: {speed: fast}", "walk.speed: found 'fast' (write a number)"),
        (
            "walk: far",
            "walk: found 'far' (write its fields with their values: "
            "length, pause, share, days, outdoors, speed)",
        ),
        (
            "pets: cat",
            "pets: found 'cat' (write a list, each entry with its fields: "
            "kind, lives, toys, tag, home, call, …)",
        ),
        (
            "pets: [cat]",
            "pets[0]: found 'cat' (write its fields with their values: "
            "kind, lives, toys, tag, home, call, …)",
        ),
        ("favourite: {kind: dog, tricks: sit}", "favourite.tricks: found 'sit' (write [sit])"),
        (
            "favourite: {kind: dog, tricks: [5]}",
            "favourite.tricks[0]: found 5 (write text, in quotes)",
        ),
        (
            "favourite: {kind: dog, 1: 2}",
            "favourite.1: unknown field (use one of kind, tricks)",
        ),
        ("1: 2", "1: unknown field (use one of favourite, name, pets, rate, walk)"),
    ],
)
def test_no_mistake_is_reported_in_pydantics_words(tmp_path: Path, text: str, mistake: str) -> None:
    assert _mistake(tmp_path, f"name: Ada\n{text}\n") == f"owner.yaml:2: {mistake}"


def test_all_mistakes_are_reported_in_the_order_of_lines(tmp_path: Path) -> None:
    message = _mistake(
        tmp_path, "nam: Ada\nrate: 3 furlongs\npets:\n  - kind: cat\n    lives: no\n"
    )
    assert message.splitlines()[0] == "owner.yaml: 4 mistakes:"
    lines = [line.split("owner.yaml:")[1].split(":")[0] for line in message.splitlines()[1:]]
    assert lines == ["1", "1", "2", "5"]


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("name: [Ada\nrate: 5\n", "owner.yaml:2:", "cannot be parsed"),
        ("name: Ada\n\tpets: []\n", "owner.yaml:2:", "a tab stands where YAML takes blanks"),
        ("name: Ada\nname: Bob\n", "owner.yaml:2:", "'name' is given twice"),
        ("name: !!python/object:os.system x\n", "owner.yaml:1:", "cannot be parsed"),
        ("name: a\n---\nname: b\n", "owner.yaml:2:", "a second document begins here"),
        ("", "owner.yaml:", "holds no fields"),
        ("- a\n- b\n", "owner.yaml:", "holds no fields"),
        ("name: a\nx: \x00\n", "owner.yaml:2:", "holds the character U+0000"),
        (f"name: a\nrate: {'9' * 5000}\n", "owner.yaml:2:", "is not a number or date"),
        ("name: " + "[" * 5000, "owner.yaml", ""),
    ],
)
def test_what_is_not_yaml_is_reported_with_its_place(
    tmp_path: Path, text: str, place: str, problem: str
) -> None:
    message = _mistake(tmp_path, text)
    assert message.startswith(place)
    assert problem in message
    assert message.endswith(")")


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.yaml: no such file \(check the path\)"):
        read_document(tmp_path / "absent.yaml").validate(Owner)
    with pytest.raises(InputError, match="cannot be read: embedded null byte"):
        read_document(Path("a\0b")).validate(Owner)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00name")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_document(binary).validate(Owner)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/zero")):
        with pytest.raises(InputError) as caught:
            read_document(path).validate(Owner)
        assert str(caught.value) == f"{path}: is not a regular file (give a file)"


def test_a_document_is_of_bounded_size(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_bytes(b"name: Ada\n#".ljust(4 * 2**20 + 1, b"x"))
    with pytest.raises(InputError, match=r"large\.yaml: is larger than 4 MiB \(split it, or"):
        read_document(path).validate(Owner)
    os.truncate(path, 4 * 2**20)
    assert read_document(path).validate(Owner).name == "Ada"


def test_an_alias_bomb_is_refused_and_reported_briefly(tmp_path: Path) -> None:
    levels = "\n".join(f"  - &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))
    message = _mistake(tmp_path, f"name: Ada\npets:\n  - &a0 [x]\n{levels}\n")
    assert len(message) < 10_000


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(tmp_path: Path, text: str) -> None:
    with suppress(InputError):
        _load(tmp_path, text)


def test_by_libyaml_or_in_python_files_hold_the_same_on_the_same_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = sorted((Path(__file__).parents[3] / "examples").rglob("*.yaml"))
    texts = [each.read_text() for each in files if each.name != "trex_cfg.yaml"]
    quick = [parse_document(Path("file"), each) for each in texts]
    monkeypatch.setattr(document, "_QuickLoader", document._StrictLoader)
    slow = [parse_document(Path("file"), each) for each in texts]
    assert len(quick) > 5
    assert [each.data for each in quick] == [each.data for each in slow]
    assert [placed(each.root) for each in quick] == [placed(each.root) for each in slow]


def placed(node: yaml.Node) -> object:
    """What a node holds, with its lines and columns."""
    value = node.value if isinstance(node, yaml.ScalarNode) else None
    if isinstance(node, yaml.SequenceNode):
        value = [placed(each) for each in node.value]
    if isinstance(node, yaml.MappingNode):
        value = [(placed(key), placed(each)) for key, each in node.value]
    return node.tag, node.start_mark.line, node.start_mark.column, value
