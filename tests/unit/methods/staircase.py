"""A method of the tests' own, in all its parts: what each of some loads loses."""

from typing import Annotated, Literal

import typer
from pydantic import BaseModel, Field

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.versions import versions
from plimsoll.benchmark.session.progress_listener import ProgressListener
from plimsoll.benchmark.testbed.testbed import BedPlan
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.benchmark.whole_run.method_run import MethodRun, run_method
from plimsoll.cli.methods.standard_command import StandardCommand
from plimsoll.cli.options.options import parse_option
from plimsoll.cli.tables.plain_tables import print_sections
from plimsoll.cli.terminal.output import stdout
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import PER_DIRECTION, RunAnswer, RunOutcome, rate_text
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.results.trial_counts import counts_of, invalid_reasons
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.pages.standard.answering_trials import AnsweringTrials
from plimsoll.report.pages.standard.page import standard_page
from plimsoll.report.pages.standard.sections import PageAnswer, PageSection, SectionTable, numbers
from plimsoll.report.parts.page import Page
from plimsoll.text.units import parse_rate
from plimsoll.traffic.streams.compile import compile_profile


class Stair(RecordModel):
    load_pps: float = Field(description="Intended, in pps per direction.")
    lost: int = Field(description="Frames lost, in all directions.")


class StaircaseResult(MethodResult):
    method: Literal["staircase"] = "staircase"
    stairs: tuple[Stair, ...] = Field(description="The loads, from the lowest.")


class StaircaseSettings(BaseModel):
    loads_pps: tuple[float, ...] = (500e3, 900e3)


def _outcome(result: StaircaseResult) -> RunOutcome:
    carried = [stair.load_pps for stair in result.stairs if not stair.lost]
    text = f"carries {rate_text(max(carried))}" if carried else "carries nothing"
    answer = RunAnswer(text, "load", max(carried, default=None), PER_DIRECTION)
    return RunOutcome(answer, "pass" if carried else "fail")


STAIRCASE = Method(
    "staircase", "staircase", result=StaircaseResult, schema="staircase-result", outcome=_outcome
)


def run_staircase(
    experiment: Experiment,
    settings: StaircaseSettings,
    run: RunDirectory,
    listener: ProgressListener,
) -> StaircaseResult:
    def execute(steps: Steps) -> StaircaseResult:
        stairs = [_stair(steps, experiment, load_pps) for load_pps in settings.loads_pps]
        trials = steps.session.recorder.history().trials()
        return StaircaseResult(
            run_id=run.run_id,
            name=experiment.name,
            quick=False,
            shortfalls=(),
            notes=(),
            trials=counts_of(trials),
            invalid_reasons=invalid_reasons(trials),
            versions=versions(steps.bed.generator.facts),
            stairs=tuple(stairs),
        )

    requested = settings.model_dump(mode="json")
    to_run = MethodRun(STAIRCASE, experiment, BedPlan.of(experiment), requested)
    return run_method(to_run, run, listener, execute)


def _stair(steps: Steps, experiment: Experiment, load_pps: float) -> Stair:
    streams = compile_profile(experiment.profile, load_pps, steps.bed.ports.paths)
    step = f"stair/{load_pps:g}"
    request = TrialRequest("frame-loss", load_pps, 1.0, streams, tester_only=True, step=step)
    trial = steps.valid(experiment, request)
    return Stair(load_pps=load_pps, lost=sum(stream.lost for stream in trial.streams))


def staircase_answer(run: RunDirectory) -> PageAnswer:
    result = read_run_result(run, StaircaseResult)
    stairs = result.stairs if result else ()
    rows = tuple((f"{stair.load_pps:,.0f}", f"{stair.lost:,}") for stair in stairs)
    table = SectionTable("", numbers("Load, pps", "Lost, frames"), rows)
    return PageAnswer("A staircase", (), (), (PageSection("Stairs", tables=(table,)),))


def staircase_page(run: RunDirectory) -> Page:
    journal = read_journal(run.journal)
    return standard_page(run, journal, staircase_answer(run), AnsweringTrials("", {}))


def _settings(
    experiment: Experiment,
    *,
    loads: Annotated[str | None, typer.Option(help="Loads, from the lowest.")] = None,
) -> StaircaseSettings:
    """Offer some loads, each for a second, and say what each of them loses."""
    if loads is None:
        return StaircaseSettings()
    rates = [parse_option("--loads", parse_rate, text) for text in loads.split(",")]
    return StaircaseSettings(loads_pps=tuple(rate.value for rate in rates))


add_to = StandardCommand(
    STAIRCASE,
    model=StaircaseSettings,
    settings=_settings,
    run=run_staircase,
    show=lambda _, run: print_sections(staircase_answer(run), stdout),
    example="plimsoll staircase demo.yaml",
    examples=("plimsoll staircase demo.yaml --loads 1Mpps,2Mpps",),
).add_to
