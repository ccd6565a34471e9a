"""The published schema is the model's, and takes what the model takes."""

import json
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from plimsoll.tune.intent.load import SCHEMA_ID, intent_schema, preset_names, preset_text


def test_it_has_its_own_id() -> None:
    assert json.loads(intent_schema())["$id"] == SCHEMA_ID


@pytest.mark.parametrize("name", preset_names())
def test_presets_are_valid_by_it(name: str) -> None:
    Draft202012Validator(json.loads(intent_schema())).validate(yaml.safe_load(preset_text(name)))


LEAST = {"name": "lab", "platform": "vm", "cpus": {"reserved": 0, "isolated": "1-3"}}


@pytest.mark.parametrize(
    "added",
    [
        {"services": {"stalld": "on"}},
        {"services": {"stalld": False}},
        {"cpus": {"reserved": "0, 2", "isolated": 1}},
        {"networks": [{"kind": "bridge", "name": "one", "master": "br0"}]},
    ],
)
def test_it_takes_what_the_model_takes(added: dict[str, Any]) -> None:
    Draft202012Validator(json.loads(intent_schema())).validate(LEAST | added)


@pytest.mark.parametrize(
    "added",
    [
        {"services": {"stalld": "maybe"}},
        {"cpus": {"reserved": "0-", "isolated": 1}},
        {"cpus": {"reserved": 0}},
        {"nics": [{"name": "a", "vlan": 4095}]},
        {"pods": [{"name": "a", "cpus": "4"}]},
        {"servces": {}},
    ],
)
def test_it_refuses_what_the_model_refuses(added: dict[str, Any]) -> None:
    assert not Draft202012Validator(json.loads(intent_schema())).is_valid(LEAST | added)
