"""What an experiment may ask of a DUT that only receives."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.trial.criteria.dut_received import DutReceived
from tests.worded.says import Says

DROPPED = {"name": "load", "role": "load", "stream_types": ["ddos"]}
BINARY = {"strategy": "binary", "minimum": "1kpps", "maximum": "2kpps"}


def sink(**changes: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "sink",
            "lab": {"kind": "testpmd-memif", "forwarding": "rxonly"},
            "profile": {"streams": [DROPPED]},
            "search": BINARY,
            **changes,
        }
    )


def mistakes(**changes: Any) -> list[tuple[tuple[str | int, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        sink(**changes)
    return [((*e["loc"], *e["ctx"]["field"]), e["msg"]) for e in caught.value.errors()]


def test_by_default_it_is_judged_by_its_counters() -> None:
    assert sink().criteria == (DutReceived(),)
    assert sink(lab={"kind": "testpmd-memif"}).criteria != (DutReceived(),)
    faults = {"kind": "major-faults"}
    assert len(sink(criteria=[{"kind": "dut-received", "at_most": 0}, faults]).criteria) == 2


def test_criteria_of_frames_that_come_back_are_refused_with_their_places(says: Says) -> None:
    assert mistakes(criteria=[{"kind": "dut-received"}, {"kind": "loss-ratio"}]) == [
        (("criteria", 1), says("loss-ratio"))
    ]
    assert mistakes(criteria=[{"kind": "out-of-order"}, {"kind": "rx-stability", "deviation": 0.1}])
    assert [place for place, _ in mistakes(criteria=[{"kind": "duplicate"}])] == [("criteria", 0)]


def test_streams_must_be_for_it_to_drop(says: Says) -> None:
    plain = {"name": "plain", "role": "load"}
    probe = {"name": "probe", "role": "latency", "rate": "1kpps"}
    assert mistakes(profile={"streams": [DROPPED, plain, probe]}) == [
        (("profile", "streams", 1, "stream_types"), says("plain")),
        (("profile", "streams", 2, "stream_types"), says("probe")),
    ]


def test_searches_that_go_by_losses_are_refused(says: Says) -> None:
    assert mistakes(search={"minimum": "1kpps", "maximum": "2kpps"}) == [
        (("search", "strategy"), says("load-line"))
    ]
    assert mistakes(search={**BINARY, "strategy": "mlrsearch"}) == [
        (("search", "strategy"), says("mlrsearch"))
    ]
