"""`plimsoll generators`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.generator.registry.generators import GENERATORS
from tests.unit.cli.runs_command import Plimsoll


def test_all_are_listed_with_what_they_can_do(plimsoll: Plimsoll) -> None:
    assert plimsoll("generators", "--json") == 0
    found = {each["kind"]: each for each in json.loads(plimsoll.out)}
    assert list(found) == list(GENERATORS)
    assert found["engine"]["faults"] == ["corrupt", "duplicate", "misdirected", "out-of-order"]
    assert found["engine"]["load_latency"]
    assert found["testpmd"]["pacings"] == ["back-to-back"]
    assert (found["trex"]["latency"], found["trex"]["load_latency"]) == (True, False)


def test_what_is_missing_is_named(
    plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLIMSOLL_ENGINE", str(tmp_path / "none"))
    assert plimsoll("generators") == 0
    assert "dpdk-testpmd: install dpdk-dev" in plimsoll.out
    assert "none is not a program" in plimsoll.out
    assert "generator.tree" in plimsoll.out
