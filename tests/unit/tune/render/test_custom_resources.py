"""Every rendered object against its kind's own fields, types and enumerations."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.unit.tune.render.example_intents import INTENTS, manifests
from tests.unit.tune.render.rendering import rendered
from tests.worded.says import Says, passage

KINDS = yaml.safe_load((Path(__file__).parent / "custom_resources.yaml").read_text())
LABELS = {"type": "object", "additionalProperties": {"type": "string"}}
PARTS = {"labels": LABELS, "one-label": LABELS | {"minProperties": 1, "maxProperties": 1}}
HEAD = ["apiVersion", "kind", "metadata"]
NAME = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
METADATA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "pattern": NAME, "maxLength": 253},
        "namespace": {"type": "string", "pattern": NAME, "maxLength": 63},
        "labels": LABELS,
        "annotations": LABELS,
    },
}


@pytest.mark.parametrize("name", INTENTS)
def test_fields(name: str) -> None:
    for path, manifest in manifests(name).items():
        kind = KINDS[manifest["kind"]]
        assert manifest["apiVersion"] == kind["api"], path
        jsonschema.validate(manifest["metadata"], METADATA)
        if "spec" in manifest:
            jsonschema.validate(manifest["spec"], kind["spec"] | PARTS)
        elif "rest" in kind:
            rest = {field: value for field, value in manifest.items() if field not in HEAD}
            jsonschema.validate(rest, kind["rest"])


@pytest.mark.parametrize("name", INTENTS)
def test_fields_come_in_the_usual_order(name: str) -> None:
    for manifest in manifests(name).values():
        assert list(manifest)[:3] == HEAD
        assert "spec" not in manifest or len(manifest) == 4


@pytest.mark.parametrize("name", INTENTS)
def test_the_first_line_says_which_intent(name: str, says: Says) -> None:
    for path, file in rendered(INTENTS[name]).items():
        if path.endswith(".yaml"):
            assert passage(file.text, str(INTENTS[name].name), "test.yaml") == says(
                str(INTENTS[name].name), "test.yaml"
            )


@pytest.mark.parametrize("name", INTENTS)
def test_yaml_is_the_same_each_time_and_without_anchors(name: str) -> None:
    first, second = rendered(INTENTS[name]), rendered(INTENTS[name])
    assert first == second
    for path, file in first.items():
        if path.endswith(".yaml"):
            assert not [
                line for line in file.text.splitlines() if line.endswith(("&id001", "*id001"))
            ]
