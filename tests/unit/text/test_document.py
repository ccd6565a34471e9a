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
from tests.worded.says import Says


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
    ("text", "facts"),
    [
        (
            "name: Ada\nrat: 5kpps\n",
            ("owner.yaml:2", "rat"),
        ),
        (
            "name: Ada\npets:\n  - kind: cat\n    live: 7\n",
            ("owner.yaml:4", "pets[0].live"),
        ),
        (
            "name: Ada\npets:\n  - kind: dog\n    lives: 7\n",
            ("owner.yaml:4", "pets[0].lives"),
        ),
        (
            "name: Ada\npets:\n  - kind: cow\n",
            ("cow", "owner.yaml:3", "pets[0]"),
        ),
        (
            "name: Ada\nfavourite:\n  kind: cats\n",
            ("cats", "owner.yaml:2", "favourite"),
        ),
        ("name: Ada\npets:\n  - lives: 3\n", ("kind:", "owner.yaml:3", "pets[0]")),
        ("rate: 5pps\n", ("name:", "owner.yaml:1")),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  lives: 0\n",
            ("owner.yaml:4", "favourite.lives", "0", "1"),
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  toys: []\n",
            ("owner.yaml:4", "favourite.toys", "1"),
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  toys: [a, b, c]\n",
            (
                "a",
                "b",
                "c",
                "owner.yaml:4",
                "favourite.toys",
                "2",
            ),
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  tag: my cat\n",
            ("my cat", "owner.yaml:4", "favourite.tag", "_", "64"),
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  home: [1]\n",
            ("owner.yaml:4", "favourite.home[1]"),
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  home: [1, 2, 3]\n",
            ("[1, 2, 3]", "owner.yaml:4", "favourite.home"),
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  call: m\n",
            ("m", "owner.yaml:4", "favourite.call", "2"),
        ),
        (
            "name: Ada\nfavourite:\n  kind: cat\n  call: meow\n",
            ("meow", "owner.yaml:4", "favourite.call", "3"),
        ),
        (
            "name: Ada\nrate: 0\n",
            ("owner.yaml:2", "rate", "0"),
        ),
    ],
)
def test_a_mistake_is_reported_with_line_field_and_remedy(
    tmp_path: Path, text: str, facts: tuple[str, ...], says: Says
) -> None:
    assert _mistake(tmp_path, text) == says(*facts)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("walk: {length: 8d}", ("8d", "walk.length", "7d")),
        ("walk: {length: 9000h}", ("9000h", "walk.length", "7d")),
        ("walk: {length: 1ns}", ("1ns", "walk.length", "100ms")),
        ("walk: {length: 700000s}", ("700000s", "walk.length", "7d")),
        ("walk: {length: 0.01s}", ("0.01s", "walk.length", "100ms")),
        ("walk: {pause: 1us}", ("1us", "walk.pause")),
        ("walk: {pause: 1m30s}", ("1m30s", "walk.pause", "1500ms")),
        ("walk: {share: 0.00001%}", ("0.00001%", "walk.share", "0.0001%")),
        ("walk: {days: 5}", ("walk.days", "5", "[5]")),
        ("walk: {days: 0-1}", ("0-1", "[0, 1]", "walk.days")),
        ("walk: {days: true}", ("[0, 1]", "walk.days")),
        ("walk: {days: [x]}", ("x", "walk.days[0]")),
        ("walk: {days: [1.5]}", ("walk.days[0]", "1.5")),
        ("walk: {outdoors: perhaps}", ("perhaps", "walk.outdoors")),
        ("walk: {speed: fast}", ("fast", "walk.speed")),
        (
            "walk: far",
            ("far", "walk"),
        ),
        (
            "pets: cat",
            ("cat", "pets"),
        ),
        (
            "pets: [cat]",
            ("cat", "pets[0]"),
        ),
        ("favourite: {kind: dog, tricks: sit}", ("sit", "favourite.tricks", "[sit]")),
        (
            "favourite: {kind: dog, tricks: [5]}",
            ("favourite.tricks[0]", "5"),
        ),
        (
            "favourite: {kind: dog, 1: 2}",
            ("favourite.1",),
        ),
        ("1: 2", ("1",)),
    ],
)
def test_no_mistake_is_reported_in_pydantics_words(
    tmp_path: Path, text: str, facts: tuple[str, ...], says: Says
) -> None:
    assert _mistake(tmp_path, f"name: Ada\n{text}\n") == says("owner.yaml:2", *facts)


def test_all_mistakes_are_reported_in_the_order_of_lines(tmp_path: Path) -> None:
    message = _mistake(
        tmp_path, "nam: Ada\nrate: 3 furlongs\npets:\n  - kind: cat\n    lives: no\n"
    )
    assert message.splitlines()[0] == "owner.yaml: 4 mistakes:"
    lines = [line.split("owner.yaml:")[1].split(":")[0] for line in message.splitlines()[1:]]
    assert lines == ["1", "1", "2", "5"]


@pytest.mark.parametrize(
    ("text", "place", "facts"),
    [
        ("name: [Ada\nrate: 5\n", "owner.yaml:2:", ()),
        ("name: Ada\n\tpets: []\n", "owner.yaml:2:", ()),
        ("name: Ada\nname: Bob\n", "owner.yaml:2:", ("name",)),
        ("name: !!python/object:os.system x\n", "owner.yaml:1:", ("owner.yaml:1",)),
        ("name: a\n---\nname: b\n", "owner.yaml:2:", ()),
        ("", "owner.yaml:", ("owner.yaml",)),
        ("- a\n- b\n", "owner.yaml:", ("owner.yaml",)),
        ("name: a\nx: \x00\n", "owner.yaml:2:", ("U+0000",)),
        (f"name: a\nrate: {'9' * 5000}\n", "owner.yaml:2:", ("owner.yaml:2",)),
        ("name: " + "[" * 5000, "owner.yaml", ("owner.yaml:1",)),
    ],
)
def test_what_is_not_yaml_is_reported_with_its_place(
    tmp_path: Path, text: str, place: str, facts: tuple[str, ...], says: Says
) -> None:
    message = _mistake(tmp_path, text)
    assert message.startswith(place)
    assert message == says(*facts)
    assert message.endswith(")")


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        read_document(tmp_path / "absent.yaml").validate(Owner)
    assert caught.value == says("absent.yaml")
    with pytest.raises(InputError) as caught:
        read_document(Path("a\0b")).validate(Owner)
    assert caught.value == says("a\u0000b")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00name")
    with pytest.raises(InputError) as caught:
        read_document(binary).validate(Owner)
    assert caught.value == says("UTF-8")


def test_only_regular_files_are_read(tmp_path: Path, says: Says) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/zero")):
        with pytest.raises(InputError) as caught:
            read_document(path).validate(Owner)
        assert caught.value == says(str(path))


def test_a_document_is_of_bounded_size(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "large.yaml"
    path.write_bytes(b"name: Ada\n#".ljust(4 * 2**20 + 1, b"x"))
    with pytest.raises(InputError) as caught:
        read_document(path).validate(Owner)
    assert caught.value == says("large.yaml", "4", "MiB")
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
