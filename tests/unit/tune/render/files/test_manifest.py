import pytest
import yaml

from plimsoll.tune.render.files.rendered_file import manifest_of, manifest_text, yaml_text

NUMBERS = ["0", "0,1", "0-3", "1G", "15e3", "0x10", "8086", "1_000", "5:30", ".5", "+1"]
WORDS = ["~", "", "y", "No", "on", "OFF", "true", "null", "=", "<<", "2026-11-22"]
SIGNS = ["@x", "- x", "a: b", "# x"]


@pytest.mark.parametrize("text", [*NUMBERS, *WORDS, *SIGNS])
def test_text_stays_text_with_any_parser(text: str) -> None:
    written = yaml_text({"field": text})
    assert yaml.safe_load(written) == {"field": text}
    # Go's parser reads more words as numbers and truths than this one: all are quoted.
    assert written.removeprefix("field: ")[0] in "\"'"


def test_words_are_bare() -> None:
    assert yaml_text({"a": "vfio-pci", "b": ["quay.io/x"]}) == "a: vfio-pci\nb:\n  - quay.io/x\n"


def test_several_lines_are_a_block() -> None:
    assert yaml_text({"a": "[main]\nb=c\n"}) == "a: |\n  [main]\n  b=c\n"


def test_a_value_that_occurs_twice_is_written_twice() -> None:
    shared = {"b": ["c"]}
    assert yaml_text({"x": shared, "y": shared}).count("- c") == 2


def test_long_lines_are_not_folded_into_other_text() -> None:
    line = "x" * 300
    assert line in yaml_text({"source": line})


def test_order_is_kept() -> None:
    manifest = manifest_of(
        "v1", "Pod", "p", namespace="n", labels={"a": "b"}, spec={"z": 1, "a": 2}
    )
    assert manifest_text(manifest) == (
        'apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: "n"\n'
        "  labels:\n    a: b\nspec:\n  z: 1\n  a: 2\n"
    )


def test_control_characters_are_escaped() -> None:
    written = yaml_text({"a": "x\x1b[31m"})
    assert "\x1b" not in written
    assert yaml.safe_load(written) == {"a": "x\x1b[31m"}
