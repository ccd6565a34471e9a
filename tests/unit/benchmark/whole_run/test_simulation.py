"""Experiments on a simulated lab: what they are made of, and that the machine is left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.benchmark.testbed.testbed import testbed as bed_of
from plimsoll.benchmark.whole_run.simulation import (
    Simulated,
    SimulationRequest,
    Truth,
    parse_settings,
)
from plimsoll.dut.labs.loopback import LoopbackSettings
from plimsoll.dut.labs.simulated import SimulatedSettings
from plimsoll.errors import InputError
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.host.state_root import STATE_VARIABLE
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.simulated.models.registry import model_kinds
from tests.worded.says import Says


class Silent:
    """A ProgressListener that remembers the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        """Nothing to show."""

    def interval(self, interval: Interval) -> None:
        """Nothing to show."""

    def trial_ended(self, record: TrialRecord) -> None:
        """Nothing to show."""


def simulation_request(model: str = "fixed-capacity", **given: object) -> SimulationRequest:
    return SimulationRequest.model_validate({"model": model, **given})


def model_of(experiment: Experiment) -> object:
    assert isinstance(experiment.lab, SimulatedSettings)
    return experiment.lab.model


@pytest.mark.parametrize("kind", list(model_kinds()))
def test_every_model_makes_an_experiment_around_its_capacity(kind: str) -> None:
    experiment = simulation_request(kind, seed=7).experiment()
    assert isinstance(experiment.lab, SimulatedSettings)
    assert (experiment.lab.model, experiment.lab.seed) == (model_kinds()[kind](), 7)
    assert experiment.search.minimum.value == pytest.approx(0.02e6)
    assert experiment.search.maximum.value == pytest.approx(1.5e6)
    assert Experiment.model_validate(experiment.normalised()) == experiment


def test_settings_are_those_of_the_model_and_of_the_experiment() -> None:
    settings = {"capacity": "2Mpps", "length": "3ms", "search.width": "5%"}
    experiment = simulation_request(
        "rare-stalls", settings=settings, loss=0.0, validation_s=30
    ).experiment()
    expected = model_kinds()["rare-stalls"].model_validate({"capacity": 2e6, "length": 3e-3})
    assert model_of(experiment) == expected
    assert experiment.search.maximum.value == pytest.approx(3e6)
    written = experiment.normalised()
    assert written["search"]["width"] == "5%"
    assert written["search"]["validation"]["duration"] == "30s"
    assert [each["at_most"] for each in written["criteria"]] == [0.0]


def test_an_experiment_keeps_what_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(
        "lab: {kind: loopback}\n"
        "profile: {streams: [{name: big, role: load, frame_size: 1518}]}\n"
        "criteria: [{kind: loss-ratio, at_most: 1%}]\n"
        "search: {strategy: binary, minimum: 1kpps, maximum: 700kpps}\n"
    )
    experiment = simulation_request("soft-knee").experiment(load_experiment(tmp_path / "x.yaml"))
    assert model_of(experiment) == model_kinds()["soft-knee"]()
    assert experiment.name == "x"
    assert experiment.profile.largest_frame_size == 1518
    assert experiment.search.maximum.value == 700e3
    assert Truth(experiment, model_kinds()["soft-knee"](), 60.0).limit == 0.01


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"model": "rare-stals"}, ("rare-stals", "model", "plimsoll simulate")),
        ({"settings": {"bufer": "1"}}, ("bufer",)),
        ({"settings": {"buffer": "x"}}, ("x", "buffer")),
        ({"settings": {"capacity": "5%"}}, ("5%", "1Mpps")),
        ({"settings": {"search.widht": "1"}}, ("--set", "search.widht")),
        ({"settings": {"name.x": "1"}}, ("--set", "name.x")),
        ({"settings": {"search.maximum": "2000"}}, ("2000", "2000pps")),
        ({"strategy": "bisect"}, ("bisect", "strategy")),
    ],
)
def test_a_mistake_is_reported_with_its_remedy(
    given: dict[str, object], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        SimulationRequest.model_validate({"model": "fixed-capacity", **given}).experiment()
    assert caught.value == says(*facts)
    places = {f"--set {name}" for name in given.get("settings", ())}
    assert caught.value.where in {"--set", "--strategy", "plimsoll simulate", *places}


def test_settings_are_read_from_texts(says: Says) -> None:
    assert parse_settings(["a=1", "b.c=x=y"], "--set") == {"a": "1", "b.c": "x=y"}
    for text in ("a", "=1", ""):
        with pytest.raises(InputError) as caught:
            parse_settings([text], "--set")
        assert caught.value == says("buffer=8192")


def test_the_truth_counts_probes_that_are_not_in_the_load() -> None:
    base = simulation_request(settings={"capacity_deviation": "0"})
    within = base.experiment()
    background = within.normalised()
    background["profile"]["streams"][1]["taken_from"] = None
    for experiment, taken_pps in (
        (within, 0.0),
        (Experiment.model_validate(background), 1000.0),
    ):
        assert isinstance(experiment.lab, SimulatedSettings)
        truth = Truth(experiment, experiment.lab.model, 10_800.0)
        # A ratio of 2e-5 may be lost.
        expected = 1e6 / (1 - 2e-5) - taken_pps
        assert truth.sustainable_pps() == pytest.approx(expected, rel=2e-6)
        assert truth.survival(0.99e6) == pytest.approx(1.0)
        assert truth.survival(1.01e6) == pytest.approx(0.0)


def test_without_a_loss_criterion_there_is_no_truth_about_it() -> None:
    written = simulation_request().experiment().normalised()
    written["criteria"] = [{"kind": "latency", "quantile": "p99", "at_most": "1ms"}]
    experiment = Experiment.model_validate(written)
    truth = Truth(experiment, model_kinds()["fixed-capacity"](), 60.0)
    assert (truth.limit, truth.sustainable_pps(), truth.survival(1e5)) == (None, None, None)


def test_a_search_finds_what_is_true_and_leaves_the_machine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def untouchable(*_: object) -> None:
        raise AssertionError("a simulation moved this process")

    monkeypatch.setattr(os, "sched_setaffinity", untouchable)
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    # No machine has these CPUs.
    plan = simulation_request(settings={"search.width": "1%"}, validation_s=60).experiment()
    experiment = plan.model_copy(
        update={"generator": plan.generator.model_copy(update={"cpus": (4094, 4095)})}
    )
    run = RunDirectory.create(tmp_path, experiment.name, experiment.normalised())
    listener = Silent()
    result = find_load_line(experiment, run, listener)
    trials = read_journal(run.journal).trials()
    found = Simulated.of(experiment, result, trials, 10_800.0)
    assert found.sustainable_pps == pytest.approx(0.999e6, rel=1e-3)
    assert found.found_share is not None
    assert 0.985 <= found.found_share <= 1.002
    assert found.total_s - found.overhead_s == pytest.approx(60.0, abs=0.5)
    # At least three trials of two seconds.
    assert found.overhead_s >= 3 * 2.0
    assert not (tmp_path / "state").exists()
    assert any(note.startswith("SIMULATED: ") for note in listener.notes)
    assert result.versions["simulation"]
    assert result.calibration is None
    environment = load_environment(run.environment)
    assert environment is not None
    assert environment.versions["simulation"]
    (up,) = read_journal(run.journal).of_kind("lab-up")
    facts = up.fields["lab"]
    assert isinstance(facts, dict)
    assert facts["simulated"] is True
    assert up.fields["engine_pid"] is None


def test_only_a_simulated_lab_needs_no_ledger() -> None:
    plan = TestbedConfig.of(simulation_request().experiment())
    with bed_of(plan, None, print) as bed:
        assert bed.generator.facts.simulated
        assert bed.line_rate_bps == 10e9
        assert bed.busy_cpus == ()
    loopback = TestbedConfig(LoopbackSettings(), plan.generator, 64)
    with pytest.raises(ValueError, match="needs a ledger"), bed_of(loopback, None, print):
        pass


def test_a_share_is_reported_only_of_what_there_is() -> None:
    nothing = Simulated(
        model="x",
        seed=0,
        limit=0.0,
        horizon_s=60.0,
        sustainable_pps=None,
        found_pps=1e6,
        survival=None,
        overhead_s=0.0,
        total_s=0.0,
    )
    assert nothing.found_share is None
    half = nothing.model_copy(update={"sustainable_pps": 2e6})
    assert half.found_share == 0.5
