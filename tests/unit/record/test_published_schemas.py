import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from plimsoll.record.results.result import Result
from plimsoll.record.schemas import main
from plimsoll.search.strategy.goal_end import GoalEnd
from tests.unit.record.kept_schema import lost
from tests.unit.record.published import PUBLISHED, schema_of
from tests.unit.record.trial_parts import record

# Of 894a23dd, without titles and descriptions: what others have read, and go on to read.
_PACKED = Path(__file__).parent / "data/schemas-894a23dd.json.xz"
KEPT = json.loads(lzma.decompress(_PACKED.read_bytes()))


@pytest.mark.parametrize("name", KEPT)
def test_what_an_earlier_schema_has_a_later_one_has(name: str) -> None:
    assert lost(KEPT[name], schema_of(name)) == []


EARLIER = {
    "type": "object",
    "required": ["load", "part"],
    "properties": {
        "load": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]},
        "kind": {"enum": ["pass", "fail"]},
        "part": {"$ref": "#/$defs/Part"},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
    },
    "$defs": {"Part": {"type": "object", "properties": {"begin": {"type": "integer"}}}},
}


@pytest.mark.parametrize(
    ("place", "changed", "found"),
    [
        (("properties", "load"), {"type": "number", "minimum": 0}, [".load: no longer null"]),
        (("properties", "load"), {"type": "null"}, [".load: no longer number"]),
        (("properties", "kind"), {"enum": ["pass"]}, [".kind: no longer ['pass', 'fail']"]),
        (("properties", "part", "$ref"), "#/$defs/Other", [".part.begin: is gone"]),
        (("$defs", "Part", "properties"), {}, [".part.begin: is gone", ".parts[].begin: is gone"]),
        (("properties", "parts"), {"type": "object"}, [".parts: no longer array"]),
        (("required",), ["load"], [".part: may be missing"]),
        (("additionalProperties",), False, [": takes no other properties"]),
        (("properties", "kind", "enum"), ["fail", "pass", "invalid"], []),
        (("properties", "load", "anyOf", 0, "minimum"), 1, [".load: minimum is 1, was 0"]),
        (("properties", "load", "anyOf", 0, "minimum"), -1, []),
        (("properties", "more"), {"type": "string"}, []),
    ],
)
def test_what_is_taken_away_is_told_by_its_place(
    place: tuple[str | int, ...], changed: Any, found: list[str]
) -> None:
    later = json.loads(json.dumps(EARLIER))
    later["$defs"]["Other"] = {"type": "object", "properties": {}}
    part: Any = later
    for each in place[:-1]:
        part = part[each]
    part[place[-1]] = changed
    assert lost(EARLIER, later) == found


def test_a_trial_record_keeps_to_its_schema() -> None:
    written = json.loads(record().model_dump_json())
    validator = Draft202012Validator(schema_of("trial-record"))
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
    validator = Draft202012Validator(schema_of("result"))
    validator.validate(written)
    del written["load_line"]
    assert not validator.is_valid(written)


def test_the_command_writes_every_schema(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 0
    written = {path.name.removesuffix(".schema.json") for path in tmp_path.iterdir()}
    assert written == set(PUBLISHED) - {"engine-protocol", "tuning-intent"}


def test_the_command_without_a_folder_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
