import functools
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from plimsoll.record.results.result import Result
from plimsoll.record.schemas import main, published_schemas
from plimsoll.search.strategy.goal_end import GoalEnd
from tests.unit.record.trial_parts import record

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "schemas"


# Each time it is called it makes all of them.
PUBLISHED = functools.cache(published_schemas)


def schema(name: str) -> Any:
    return json.loads((FOLDER / name).read_text())


def test_the_published_schemas_are_the_models() -> None:
    stale = [name for name, text in PUBLISHED().items() if (FOLDER / name).read_text() != text]
    assert stale == [], "stale: run python -m plimsoll.record.schemas docs/schemas"


def test_a_trial_record_keeps_to_its_schema() -> None:
    written = json.loads(record().model_dump_json())
    validator = Draft202012Validator(schema("trial-record.schema.json"))
    validator.validate(written)
    assert not validator.is_valid({**written, "verdict": "maybe"})


def test_a_result_keeps_to_its_schema() -> None:
    trials = (record(1, phase="validation", load_pps=5.0),)
    result = Result.from_trials(
        trials,
        run_id="r",
        name="n",
        ends=[GoalEnd("load-line", 5.0, "")],
        criteria={"load-line": []},
    )
    written = json.loads(result.model_dump_json())
    validator = Draft202012Validator(schema("result.schema.json"))
    validator.validate(written)
    del written["load_line"]
    assert not validator.is_valid(written)


def test_the_command_writes_every_schema(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 0
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == PUBLISHED()


def test_the_command_without_a_folder_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
