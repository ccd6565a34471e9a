"""`plimsoll check`, `plimsoll run --dry-run`, and `--set` on every command, as a user sees them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.unit.cli.runs_command import Plimsoll
from tests.unit.record.published import schema_of
from tests.worded.says import Says, passage

EXPERIMENT = """\
name: sim
lab: {kind: simulated, model: {kind: fixed-capacity}}
profile:
  streams:
    - {name: load, role: load}
    - {name: probe, role: latency, rate: 1000pps}
trial: {drain: 100ms, warmup: null}
search: {minimum: 10kpps, maximum: 100kpps, duration: 500ms, validation: {duration: 500ms}}
"""
BAD = """\
lab: {kind: simulated, model: {kind: fixed-capacity}}
profile:
  streams: [{name: load, role: lod}]
search:
  minimum: 10
  maximum: 100kpps
"""


@pytest.fixture(autouse=True)
def files(plimsoll: Plimsoll, state: Path, tmp_path: Path) -> None:
    (tmp_path / "sim.yaml").write_text(EXPERIMENT)
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "many.yaml").write_text(f"{EXPERIMENT}matrix: {{samples: 1}}\n")


def checked_json(plimsoll: Plimsoll, *words: str) -> Any:
    plimsoll("check", *words, "--json")
    document = json.loads(plimsoll.out)
    Draft202012Validator(schema_of("check-result")).validate(document)
    return document


def test_every_mistake_is_reported_with_its_line_and_remedy(plimsoll: Plimsoll, says: Says) -> None:
    assert plimsoll("check", "bad.yaml") == 2
    assert plimsoll.out == ""
    assert plimsoll.err == says(
        "lod",
        "load",
        "latency",
        "bad.yaml:3",
        "profile.streams[0].role",
        "bad.yaml:5",
        "search.minimum",
        "10",
        "10pps",
    )


def test_what_a_run_would_do_is_printed_and_nothing_is_made(
    plimsoll: Plimsoll, tmp_path: Path, state: Path
) -> None:
    assert plimsoll("check", "sim.yaml") == 0
    assert plimsoll.err == ""
    for part in (
        "sim: no mistake was found. plimsoll run would search 10 kpps to 100 kpps per direction",
        "load/0-1   0 to 1  load, constant, 64 B",
        "No CPU of this machine would be polled",
        "Ether / IP / UDP 198.18.0.1:4096 > 198.19.0.1:4097",
        "payload: 18 bytes of signature",
    ):
        assert part in plimsoll.out
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.yaml", "many.yaml", "sim.yaml"]
    assert list(state.iterdir()) == []


def test_a_dry_run_is_a_check(plimsoll: Plimsoll, says: Says) -> None:
    options = ("sim.yaml", "--set", "search.maximum=50kpps", "--validation", "1h")
    assert plimsoll("check", *options) == 0
    checked = plimsoll.out
    assert passage(checked, "10", "kpps", "50") == says("10", "kpps", "50")
    assert plimsoll("run", *options, "--dry-run") == 0
    assert plimsoll.out == checked
    assert plimsoll("run", "bad.yaml", "--dry-run") == 2
    assert plimsoll("run", "--resume", "runs/x", "--dry-run") == 2
    assert plimsoll.err == says("--dry-run")
    assert not Path("runs").exists()


def test_json_keeps_to_its_schema(plimsoll: Plimsoll) -> None:
    sound = checked_json(plimsoll, "sim.yaml")
    assert (sound["file"], sound["mistakes"]) == ("sim.yaml", [])
    assert sound["run"]["maximum_pps"] == 100e3
    wrong = checked_json(plimsoll, "bad.yaml")
    assert wrong["run"] is None
    assert [each["where"] for each in wrong["mistakes"]] == ["bad.yaml:3", "bad.yaml:5"]
    assert {each["exit_code"] for each in wrong["mistakes"]} == {2}


def test_what_only_the_machine_lacks_is_another_exit_code(plimsoll: Plimsoll, says: Says) -> None:
    missing = ("--set", "trial.before=[/proc/nonexistent/flush]")
    assert plimsoll("check", "sim.yaml", *missing) == 3
    assert plimsoll.err == says("--set", "trial.before", "/proc/nonexistent/flush")
    assert plimsoll("check", "sim.yaml", *missing, "--set", "search.minimum=1Mpps") == 2


def test_a_file_that_is_no_experiment(plimsoll: Plimsoll, says: Says) -> None:
    assert plimsoll("check", "gone.yaml") == 2
    assert plimsoll.err == says("gone.yaml")
    assert plimsoll("check", "many.yaml") == 2
    assert plimsoll.err == says("many.yaml:9")


WORDS = (
    ("check", "sim.yaml"),
    ("run", "sim.yaml"),
    ("trial", "sim.yaml", "--load", "10kpps"),
    ("soak", "sim.yaml", "--load", "10kpps", "--duration", "1m"),
    ("test", "rfc2544", "sim.yaml", "--quick"),
    ("test", "rfc9004", "sim.yaml", "--quick"),
    ("probe", "sim.yaml", "--quick"),
    ("latency-at-load", "sim.yaml", "--quick"),
    ("matrix", "many.yaml"),
    ("lab", "up", "--experiment", "sim.yaml"),
    ("simulate", "fixed-capacity", "--experiment", "sim.yaml"),
)


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_command_that_takes_an_experiment_takes_set(
    plimsoll: Plimsoll, words: tuple[str, ...], says: Says
) -> None:
    assert plimsoll(*words, "--set", "search.minimun=1pps") == 2
    assert "--set search.minimun: " in plimsoll.err
    assert plimsoll.err == says()
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "command", ["run", "soak", "test rfc2544", "test rfc9004", "probe", "latency-at-load", "matrix"]
)
def test_a_resumed_run_keeps_its_experiment(plimsoll: Plimsoll, command: str, says: Says) -> None:
    assert plimsoll(*command.split(), "--resume", "runs/x", "--set", "search.minimum=1pps") == 2
    assert plimsoll.err == says()


def test_a_lab_of_a_kind_has_no_experiment_to_set_in(plimsoll: Plimsoll, says: Says) -> None:
    assert plimsoll("lab", "up", "loopback", "--set", "lab.ports=4") == 2
    assert plimsoll.err == says("--set", "lab.ports")


def test_what_was_set_is_recorded(plimsoll: Plimsoll) -> None:
    words = (
        "--set",
        "search.maximum=20kpps",
        "--set",
        "criteria=[{kind: loss-ratio, at_most: 1%}]",
    )
    assert plimsoll("run", "sim.yaml", *words) == 0
    (run,) = Path("runs").iterdir()
    written = yaml.safe_load((run / "experiment.yaml").read_text())
    assert written["search"]["maximum"] == "20000pps"
    assert [each["at_most"] for each in written["criteria"]] == ["1%"]
