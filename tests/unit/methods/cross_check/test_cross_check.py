"""A cross-check of generators whose every count is known, and of figures made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities, GeneratorModel, Launch
from plimsoll.generator.histogram import Histogram, bucket_of
from plimsoll.generator.interface import (
    Generator,
    GeneratorFacts,
    Interval,
    PortInfo,
    StreamCounts,
    TrialPlan,
    TrialReport,
)
from plimsoll.methods.cross_check.figures import checked_figures
from plimsoll.methods.cross_check.result import GeneratorTrial
from plimsoll.methods.cross_check.run import Contender, turns
from plimsoll.methods.cross_check.settings import generator_sections
from tests.plug_ins import registered
from tests.unit.cli.conftest import plimsoll
from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says

__all__ = ["plimsoll"]

EXPERIMENT = """\
name: two
lab: {kind: loopback, ports: 1}
generator: {kind: exact, cpus: [3]}
observe: {enabled: false}
tester: {rate_tolerance: 50%}
profile:
  streams: [{name: load, role: load}, {name: probe, role: latency, rate: 100pps}]
search: {minimum: 10kpps, maximum: 1Mpps}
"""


class ExactSettings(GeneratorModel):
    """Sends what is due."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        8, 1.0, 2e6, frozenset({"constant", "back-to-back"}), latency=True
    )
    kind: Literal["exact"] = "exact"
    share: ClassVar[float] = 1.0
    latency_ns: ClassVar[int] = 5_000
    cpus: tuple[int, ...] = (0,)

    def start(self, launch: Launch) -> Generator:
        """At once."""
        return Counted(type(self).__name__, self.share, self.latency_ns)


class ShortSettings(ExactSettings):
    """Sends a tenth too few, and reports them 7 us later."""

    kind: Literal["short"] = "short"  # type: ignore[assignment]
    share: ClassVar[float] = 0.9
    latency_ns: ClassVar[int] = 12_000


class UnpacedSettings(ExactSettings):
    """Has no rate."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        1, 1.0, 2e6, frozenset({"back-to-back"}), latency=False
    )
    kind: Literal["unpaced"] = "unpaced"  # type: ignore[assignment]


@dataclass
class Counted:
    """A loop whose frames all come back."""

    name: str
    share: float
    latency_ns: int

    @property
    def facts(self) -> GeneratorFacts:
        return GeneratorFacts(self.name, "1.0")

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        return ()

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        return TrialReport(
            ended_by="duration",
            sending_s=plan.duration_s,
            begin_unix_ns=0,
            streams=tuple(
                self._counts(each.stream, round((each.rate_pps or 5e5) * plan.duration_s))
                for each in plan.streams
            ),
            ports=(),
            workers=(),
        )

    def close(self) -> None:
        pass

    def _counts(self, stream: int, due: int) -> StreamCounts:
        sent = round(due * self.share)
        ns = self.latency_ns
        histogram = Histogram(sent, sent * ns, ns, ns, ((bucket_of(ns), sent),))
        empty = Histogram()
        return StreamCounts(stream, sent, 0, 0, 0, 0, sent, 0, 0, 0, 0, 0, histogram, empty, empty)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    models = (ExactSettings, ShortSettings, UnpacedSettings)
    named = {model.model_fields["kind"].default: model for model in models}
    registered(monkeypatch, "plimsoll.generators", named)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "two.yaml"
    path.write_text(EXPERIMENT)
    return path


def check(plimsoll: Plimsoll, path: Path, *words: object) -> int:
    return plimsoll("cross-check", path, "--duration", "1s", "--runs", path.parent / "runs", *words)


def test_who_sends_too_few_is_found(
    plimsoll: Plimsoll, path: Path, state: Path, says: Says
) -> None:
    code = check(plimsoll, path, "--generators", "exact,short,unpaced", "--rounds", "2", "--json")
    assert code == 0, plimsoll.err
    result = json.loads(plimsoll.out)
    turns = [(each["stage"], each["turn"], each["generator"]) for each in result["turns"]]
    assert turns == [
        ("paced", 1, "exact"),
        ("paced", 1, "short"),
        ("paced", 2, "short"),
        ("paced", 2, "exact"),
        ("unpaced", 1, "exact"),
        ("unpaced", 1, "short"),
        ("unpaced", 1, "unpaced"),
        ("unpaced", 2, "unpaced"),
        ("unpaced", 2, "short"),
        ("unpaced", 2, "exact"),
    ]
    figures = {(each["stage"], each["name"]): each for each in result["figures"]}
    offered = figures["paced", "offered rate"]
    assert offered["differs"]
    assert offered["values"]["short"] == {
        "median": 0.9,
        "lowest": 0.9,
        "highest": 0.9,
        "trials": 2,
    }
    assert not figures["paced", "loss"]["differs"]
    assert figures["paced", "p50 latency"]["differs"]
    (said,) = figures["paced", "p50 latency"]["evidence"]
    assert said == says("7")
    assert figures["unpaced", "sent"]["values"]["unpaced"]["median"] == 500_000
    assert result["versions"]["ShortSettings"] == "1.0"
    assert list(state.iterdir()) == []


def test_it_goes_on_where_it_was_cut_short(plimsoll: Plimsoll, path: Path, state: Path) -> None:
    assert check(plimsoll, path, "--generators", "exact,short", "--rounds", "1") == 0
    (run,) = (path.parent / "runs").iterdir()
    lines = (run / "journal.jsonl").read_text().splitlines(keepends=True)
    ends = [n for n, line in enumerate(lines) if '"cross-check-trial"' in line]
    (run / "journal.jsonl").write_text("".join(lines[: ends[1] + 1]))
    (run / "result.json").unlink()
    # As it is where the third trial had not begun yet.
    for trial in (3, 4):
        (run / f"metrics/trial-{trial:04}.parquet").unlink()
    assert plimsoll("cross-check", "--resume", run, "--json") == 0, plimsoll.err
    result = json.loads(plimsoll.out)
    assert [each["trial"] for each in result["turns"]] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (("--generators", "exact"), ("generators",)),
        (("--generators", "exact,exact"), ("generators",)),
        (("--generators", "exact,exac"), ("exact",)),
        (("--generators", "exact,short", "--with", "shor.cpus=[1]"), ("short",)),
        (("--generators", "exact,short", "--with", "cpus=1"), ("KIND.FIELD=VALUE",)),
        (
            ("--generators", "exact,short", "--with", "short.cpu=1"),
            ("--with", "generator.short.cpu", "short.cpus=[2]"),
        ),
        (("--generators", "exact,short", "--rounds", "0"), ("1", "100")),
        (
            ("--generators", "exact,short", "--load", "3Mpps"),
            ("exact", "load/0-0"),
        ),
    ],
)
def test_mistakes(
    plimsoll: Plimsoll, path: Path, words: tuple[str, ...], facts: tuple[str, ...], says: Says
) -> None:
    assert check(plimsoll, path, *words) == 2
    assert plimsoll.err == says(*facts)
    assert not (path.parent / "runs").exists()


def test_fields_are_set_by_kind_and_cpus_are_the_experiments(path: Path) -> None:
    sections = generator_sections(load_experiment(path), "short,exact", {"exact": {"cpus": [7]}})
    assert sections == (
        {"kind": "short", "cpus": [3]},
        {"kind": "exact", "cpus": [7]},
    )


def test_one_alone_in_a_stage_does_not_send_in_it(path: Path) -> None:
    experiment: Experiment = load_experiment(path)
    who = (
        Contender("exact", experiment, ("paced", "unpaced")),
        Contender("unpaced", experiment, ("unpaced",)),
    )
    assert {each.stage for each in turns(who, 2)} == {"unpaced"}


def trial(**changes: Any) -> GeneratorTrial:
    usual: dict[str, Any] = {
        "generator": "a",
        "stage": "paced",
        "turn": 1,
        "trial": 1,
        "verdict": "pass",
        "reason": None,
        "sending_s": 1.0,
        "due": 1000.0,
        "sent": 1000,
        "received": 1000,
        "dut_received": 1000,
        "dut_sent": 1000,
        "probes": 10,
        "min_ns": 1000,
        "p50_ns": 2000,
        "p99_ns": 3000,
    }
    return GeneratorTrial.model_validate({**usual, **changes})


def evidence(name: str, *trials: GeneratorTrial) -> str:
    (figure,) = (each for each in checked_figures(trials) if each.name == name)
    return " ".join(figure.evidence)


def test_the_duts_counters_say_whose_count_is_off(says: Says) -> None:
    other = trial(generator="b", sent=990, dut_received=900)
    said = evidence("offered rate", trial(), other)
    assert said == says("1", "rate", "+90")


def test_the_duts_counters_say_where_frames_were_lost(says: Says) -> None:
    lossy = trial(generator="b", dut_received=990, dut_sent=970, received=965)
    said = evidence("loss", trial(), lossy)
    assert said == says("20", "10", "5", "1,000")


def test_ranges_that_overlap_do_not_differ() -> None:
    trials = [
        trial(p50_ns=2000),
        trial(p50_ns=2600),
        trial(generator="b", p50_ns=2500),
        trial(generator="b", p50_ns=4000),
    ]
    figures = {each.name: each.differs for each in checked_figures(trials)}
    assert not figures["p50 latency"]
    apart = [replace_p50(each, 2400) if each.p50_ns == 2600 else each for each in trials]
    assert {each.name: each.differs for each in checked_figures(apart)}["p50 latency"]


def replace_p50(one: GeneratorTrial, ns: int) -> GeneratorTrial:
    return one.model_copy(update={"p50_ns": ns})


def test_invalid_trials_and_lone_generators_are_in_no_figure() -> None:
    assert checked_figures([trial(), trial(generator="b", verdict="invalid")]) == ()


def test_a_dut_without_counters_is_said(says: Says) -> None:
    blind = trial(generator="b", dut_received=None, dut_sent=None)
    assert evidence("loss", trial(), blind) == says("1,000")
    with pytest.raises(InputError):
        generator_sections(Experiment.model_construct(), "engine", {})
