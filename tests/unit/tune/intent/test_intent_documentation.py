"""docs/tuning-intent.md names every field, preset and rule there is."""

from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from plimsoll.tune.fit.topology import TopologyRule
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import preset_names

TEXT = (Path(__file__).resolve().parents[4] / "docs/tuning-intent.md").read_text()


def fields(schema: dict[str, Any]) -> set[str]:
    """Every field of the model and of the models in it."""
    models = [schema, *schema["$defs"].values()]
    return {name for model in models for name in model.get("properties", {})}


@pytest.mark.parametrize("name", sorted(fields(Intent.model_json_schema())))
def test_every_field_is_there(name: str) -> None:
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize("name", [*preset_names(), *get_args(TopologyRule)])
def test_every_preset_and_rule_is_there(name: str) -> None:
    assert f"`{name}`" in TEXT


def test_the_example_is_an_intent() -> None:
    example = TEXT.partition("```yaml\n")[2].partition("```")[0]
    assert Intent.model_validate(yaml.safe_load(example)).name == "reghwol"
