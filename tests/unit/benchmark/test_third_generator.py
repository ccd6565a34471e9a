"""A generator of a kind that Plimsoll does not have: registered here, and used as any other is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, get_args

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities, GeneratorModel, Launch
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import (
    FrameFault,
    Generator,
    GeneratorFacts,
    Interval,
    PortInfo,
    StreamCounts,
    TrialPlan,
    TrialReport,
)
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.traffic.plan import StreamPlan
from tests.plug_ins import registered
from tests.unit.cli.conftest import plimsoll
from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says

__all__ = ["plimsoll"]

CAPACITY_PPS = 123_000
EXPERIMENT = f"""\
name: third
lab: {{kind: loopback, ports: 1}}
generator: {{kind: tiny, capacity_pps: {CAPACITY_PPS}}}
observe: {{enabled: false}}
profile:
  streams: [{{name: load, role: load}}]
search:
  strategy: binary
  minimum: 10kpps
  maximum: 1Mpps
  granularity: 1%
  duration: 2s
  validation: {{duration: 5s}}
"""


class TinySettings(GeneratorModel):
    """Sends one stream at a constant rate, and times nothing."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        most_streams=1,
        least_pps=1.0,
        most_pps=2e6,
        pacings=frozenset({"constant"}),
        latency=False,
        faults=frozenset(get_args(FrameFault)),
    )

    kind: Literal["tiny"] = "tiny"
    capacity_pps: int

    def start(self, launch: Launch) -> Generator:
        """At once."""
        return TinyGenerator(self.capacity_pps, launch.devargs)


@dataclass
class TinyGenerator:
    """Of what it sends, its path carries so much a second and loses the rest."""

    capacity_pps: int
    devargs: tuple[str, ...]

    @property
    def facts(self) -> GeneratorFacts:
        """It is in this process."""
        return GeneratorFacts("tiny", "0.7", notes=(f"tiny on {', '.join(self.devargs)}",))

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """It has none that could tell of themselves."""
        return ()

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Second by second, in no time."""
        seconds = round(plan.duration_s)
        for second in range(seconds):
            counts = tuple(self._counts(each, 1) for each in plan.streams)
            end_unix_ns = (second + 1) * 10**9
            watch(Interval(second, "send", second, second + 1, end_unix_ns, counts, (), ()))
        return TrialReport(
            ended_by="duration",
            sending_s=float(seconds),
            begin_unix_ns=0,
            streams=tuple(self._counts(each, seconds) for each in plan.streams),
            ports=(),
            workers=(),
        )

    def close(self) -> None:
        """Nothing to end."""

    def _counts(self, stream: StreamPlan, seconds: int) -> StreamCounts:
        sent = round(stream.rate_pps or 0) * seconds
        received = min(sent, self.capacity_pps * seconds)
        return StreamCounts(
            stream=stream.stream,
            sent=sent,
            refused=0,
            skipped=0,
            no_buffer=0,
            timed_out=0,
            received=received,
            missing=sent - received,
            out_of_order=0,
            duplicate=0,
            corrupt=0,
            misdirected=0,
            latency=Histogram(),
            latency_across_stalls=Histogram(),
            lateness=Histogram(),
            checked=received,
        )


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, "plimsoll.generators", {"tiny": TinySettings})


def written(folder: Path, text: str = EXPERIMENT) -> Path:
    path = folder / "third.yaml"
    path.write_text(text)
    return path


def refused(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load_experiment(written(folder, text))
    return str(caught.value)


def test_a_search_finds_what_its_path_carries(
    tmp_path: Path, state: Path, plimsoll: Plimsoll
) -> None:
    code = plimsoll("run", written(tmp_path), "--runs", tmp_path / "runs", "--json")
    assert code == 0, plimsoll.err
    found = json.loads(plimsoll.out)["load_line"]["pps_per_direction"]
    assert 0.99 * CAPACITY_PPS <= found <= CAPACITY_PPS
    (path,) = (each for each in (tmp_path / "runs").iterdir() if each.is_dir())
    run = RunDirectory(path)
    environment = load_environment(run.environment)
    assert environment is not None
    assert environment.versions["tiny"] == "0.7"
    assert environment.versions["engine"] is None
    assert environment.calibration is None
    (up,) = read_journal(run.journal).of_kind("lab-up")
    assert "tiny on net_ring0" in up.fields["notes"]
    assert list(state.iterdir()) == []


def test_a_trial_is_judged_by_its_counts(tmp_path: Path, state: Path, plimsoll: Plimsoll) -> None:
    path, runs = written(tmp_path), tmp_path / "runs"
    for load, verdict in (("123kpps", "pass"), ("130kpps", "fail")):
        words = ("trial", path, "--load", load, "--duration", "2s", "--runs", runs, "--json")
        plimsoll(*words)
        assert json.loads(plimsoll.out)["verdict"] == verdict, plimsoll.err


def test_it_is_written_out_and_read_again(tmp_path: Path) -> None:
    experiment = load_experiment(written(tmp_path))
    assert experiment.normalised()["generator"] == {"kind": "tiny", "capacity_pps": CAPACITY_PPS}
    assert Experiment.model_validate(experiment.normalised()) == experiment
    assert TestbedConfig.of(experiment).busy_cpus == ()


@pytest.mark.parametrize(
    ("before", "after", "facts"),
    [
        ("kind: tiny", "kind: tinny", ("tiny",)),
        ("capacity_pps:", "capacity:", ("capacity_pps",)),
        ("capacity_pps:", "cpus:", ("generator.cpus", "capacity_pps")),
        (f"{CAPACITY_PPS}", "much", ("much", "third.yaml:3", "generator.capacity_pps")),
    ],
)
def test_a_mistake_in_its_settings_has_its_place(
    tmp_path: Path, before: str, after: str, facts: tuple[str, ...], says: Says
) -> None:
    assert refused(tmp_path, EXPERIMENT.replace(before, after, 1)) == says(*facts)


@pytest.mark.parametrize(
    ("before", "after", "facts"),
    [
        (
            "role: load}]",
            "role: load}, {name: probe, role: latency, rate: 1kpps}]",
            ("2", "1"),
        ),
        (
            "role: load}]",
            "role: load, flows: 9, per_flow: true}]",
            ("load/0-0", "per_flow"),
        ),
        (
            "role: load}]",
            "role: load, pacing: poisson}]",
            ("load/0-0", "pacing", "poisson"),
        ),
        (
            "1Mpps",
            "3Mpps",
            ("load/0-0", "3", "Mpps", "1", "2"),
        ),
    ],
)
def test_what_it_cannot_send_is_refused_before_anything_is_started(
    tmp_path: Path,
    plimsoll: Plimsoll,
    before: str,
    after: str,
    facts: tuple[str, ...],
    *,
    says: Says,
) -> None:
    path = written(tmp_path, EXPERIMENT.replace(before, after))
    assert plimsoll("run", path, "--runs", tmp_path / "runs") == 2
    assert plimsoll.err == says(*facts)
    assert not (tmp_path / "runs").exists()


def test_what_it_cannot_measure_is_refused(tmp_path: Path, plimsoll: Plimsoll, says: Says) -> None:
    able = TinySettings.capabilities
    TinySettings.capabilities = replace(able, most_streams=2)
    try:
        streams = "role: load}, {name: probe, role: latency, rate: 1kpps}]"
        path = written(tmp_path, EXPERIMENT.replace("role: load}]", streams))
        assert plimsoll("run", path, "--runs", tmp_path / "runs") == 2
    finally:
        TinySettings.capabilities = able
    assert plimsoll.err == says("probe/0-0", "role")


@pytest.mark.parametrize(
    ("criterion", "facts"),
    [
        ("{kind: corrupt}", ("corrupt",)),
        (
            "{kind: latency, role: load, quantile: p99, at_most: 1ms}",
            ("latency", "load"),
        ),
    ],
)
def test_what_it_cannot_judge_is_refused(
    tmp_path: Path,
    plimsoll: Plimsoll,
    monkeypatch: pytest.MonkeyPatch,
    criterion: str,
    facts: tuple[str, ...],
    *,
    says: Says,
) -> None:
    blind = replace(TinySettings.capabilities, faults=frozenset())
    monkeypatch.setattr(TinySettings, "capabilities", blind)
    path = written(tmp_path, f"{EXPERIMENT}criteria: [{{kind: loss-ratio}}, {criterion}]\n")
    assert plimsoll("run", path, "--runs", tmp_path / "runs") == 2
    assert plimsoll.err == says(*facts)
    assert "third.yaml:14: criteria" in plimsoll.err
    assert not (tmp_path / "runs").exists()
