"""The experiment: everything a run is to do, as one YAML document."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from plimsoll.benchmark.experiment.criteria_checks import (
    allowed_checks,
    host_criteria_checks,
    sink_checks,
    sink_criteria_checks,
    spread_checks,
    stream_checks,
)
from plimsoll.benchmark.experiment.judged_search import (
    ExperimentSearch,
    goal_criteria,
    judged_by_criteria,
)
from plimsoll.benchmark.experiment.set_field import SetField, SourceMap, with_fields
from plimsoll.benchmark.experiment.trial_settings import TrialSettings, check_trial_duration
from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.dut.registry.labs import LabSettings
from plimsoll.errors import InputError, PlimsollError
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.generator_plan import GeneratorPlan
from plimsoll.generator.registry.generators import GeneratorField
from plimsoll.host.resctrl.settings import ResctrlSettings
from plimsoll.neighbours.registry import NeighbourSettings
from plimsoll.observe.agent.settings import ObserveSettings
from plimsoll.search.registry import with_strategy
from plimsoll.search.strategy.ask import Search
from plimsoll.search.strategy.settings import ToPps
from plimsoll.text.document import Document, read_document
from plimsoll.text.mistakes import Location, brief, check_all, did_you_mean, dotted, mistake
from plimsoll.text.units import WRITTEN
from plimsoll.traffic.imported.trafficgen import load_profile, place_captures
from plimsoll.traffic.streams.flows import flows_within
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.teaching.teaching import check_teaching
from plimsoll.trial.criteria.dut_received import DutReceived
from plimsoll.trial.criteria.registry import AllowedFault, CriterionSettings, default_criteria
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_intent, load_preset, preset_names


class Experiment(BaseModel):
    """One run, named after its file unless it says otherwise.

    `profile` is written in place, or as the path of a file next to the experiment.
    `allowed` are the faults that the default criteria do not judge.
    `noise` are the neighbours that disturb every trial but those that calibrate the tester.
    `resctrl` are the shares of cache and memory bandwidth that neighbours, CPUs and others have.
    `require_hugepages` makes a machine without them an error instead of a slower run.
    `tuning` is the tuning that the host should have: an intent in place, the path of one next to
    the experiment, or a preset's name. The run's audit judges by it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    lab: LabSettings = TestpmdSettings()
    generator: GeneratorField = EngineSettings()
    require_hugepages: bool = False
    profile: Profile
    # Judged against the profile even where it is left out: streams ask to be taught.
    trial: TrialSettings = Field(default=TrialSettings(), validate_default=True)
    allowed: tuple[AllowedFault, ...] = ()
    criteria: Annotated[tuple[CriterionSettings, ...], Field(min_length=1)] = Field(
        default_factory=tuple, validate_default=True
    )
    tester: TesterLimits = TesterLimits()
    observe: ObserveSettings = ObserveSettings()
    noise: Annotated[tuple[NeighbourSettings, ...], Field(max_length=16)] = ()
    resctrl: ResctrlSettings | None = None
    tuning: Intent | None = None
    search: ExperimentSearch
    _written: SourceMap = PrivateAttr(default_factory=SourceMap)

    @field_validator("profile")
    @classmethod
    def _has_a_load(cls, profile: Profile) -> Profile:
        if not profile.load_streams:
            raise mistake("a search needs a load stream", "add a stream with role: load", "streams")
        return profile

    @field_validator("trial")
    @classmethod
    def _streams_can_be_taught(cls, trial: TrialSettings, info: ValidationInfo) -> TrialSettings:
        if profile := info.data.get("profile"):
            try:
                check_teaching(profile, trial.teaching)
            except InputError as error:
                place = ("teaching", *error.where.split("."))
                raise mistake(error.message, error.remedy, *place) from None
        return trial

    @field_validator("criteria", mode="before")
    @classmethod
    def _what_is_not_allowed_is_judged(cls, given: Any, info: ValidationInfo) -> Any:
        """Where none are given; a list without any in it is a mistake."""
        if given != ():
            return given
        # A lab that was refused is not there.
        lab = info.data.get("lab")
        if lab is not None and not lab.returns_frames:
            return (DutReceived(),)
        return default_criteria(info.data.get("allowed", ()))

    @model_validator(mode="after")
    def _sections_agree(self) -> Self:
        """What no section can tell alone, of all criteria at once."""
        places: dict[Location, Sequence[CriterionSettings]] = {("criteria",): self.criteria}
        for index, criteria in enumerate(goal_criteria(self.search).values()):
            places["search", "goals", index, "criteria"] = criteria or ()
        checks = list(allowed_checks(self.criteria, self.allowed))
        for place, judged_by in places.items():
            checks += spread_checks(judged_by, self.search, place)
            checks += host_criteria_checks(judged_by, self.lab, self.observe, place)
            checks += sink_criteria_checks(judged_by, self.lab, place)
        checks += sink_checks(self.profile, self.search, self.lab)
        check_all(*checks)
        return self

    @field_validator("criteria")
    @classmethod
    def _criteria_have_streams(
        cls, criteria: tuple[CriterionSettings, ...], info: ValidationInfo
    ) -> tuple[CriterionSettings, ...]:
        # A profile that was refused is not there.
        if profile := info.data.get("profile"):
            check_all(*stream_checks(criteria, profile))
        return criteria

    @field_validator("search", mode="before")
    @classmethod
    def _has_a_strategy(cls, given: Any) -> Any:
        return with_strategy(given) if isinstance(given, dict) else given

    @field_validator("search")
    @classmethod
    def _goals_have_streams(
        cls, search: ExperimentSearch, info: ValidationInfo
    ) -> ExperimentSearch:
        if profile := info.data.get("profile"):
            goals = enumerate(goal_criteria(search).values())
            check_all(
                *(
                    check
                    for index, criteria in goals
                    for check in stream_checks(criteria or (), profile, "goals", index, "criteria")
                )
            )
        return search

    def validated_for(self, duration_s: float) -> Self:
        """The same with another length of the validation.

        Raises InputError for one that no trial may have.
        """
        duration = check_trial_duration(duration_s, "--validation")
        return self.model_copy(update={"search": self.search.validated_for(duration)})

    @property
    def effective_generator(self) -> GeneratorPlan:
        """Who sends: the generator as set, or of a simulated lab the simulation."""
        return self.lab.simulation or self.generator

    @property
    def largest_frame_size(self) -> int:
        """On any port, with what the DUT adds to those that go forward, in bytes with FCS."""
        lengths = (
            (each.largest_frame_size, each.direction != "revunidirectional")
            for each in self.profile.streams
        )
        return max(length + self.lab.added_bytes * forward for length, forward in lengths)

    def flows_remembered(self, memory_s: float) -> int:
        """How many flows are in use, or ended less than `memory_s` ago, at the most."""
        return sum(
            flows_within(each, memory_s, reverse=reverse)
            for each in self.profile.streams
            for reverse in each.goes
        )

    @property
    def goals(self) -> Mapping[str, tuple[CriterionSettings, ...]]:
        """The criteria of each goal of the search, in order; the first goal is the run's."""
        by_goal = goal_criteria(self.search)
        return {name: criteria or self.criteria for name, criteria in by_goal.items()}

    def begin_search(self, to_pps: ToPps, reach_pps: float | None = None) -> Search:
        """The search, at its beginning; `reach_pps` is the highest load that the tester offers.

        Raises InputError naming the field for a load that is not known in pps, and for loads out
        of order.
        """
        search = judged_by_criteria(self.search, self.criteria, self.trial.window)
        return search.begin(to_pps, reach_pps)

    def criteria_of(self, goal: str | None) -> tuple[CriterionSettings, ...]:
        """A goal's criteria; the experiment's own where a trial is for none."""
        return self.criteria if goal is None else self.goals[goal]

    def place(self, error: PlimsollError) -> None:
        """Give an error whose place is a field the file and line on which that is written."""
        self._written.place(error, type(self).model_fields)

    @contextmanager
    def with_source_locations(self) -> Iterator[None]:
        """Do so with what is raised within."""
        try:
            yield
        except PlimsollError as error:
            self.place(error)
            raise

    def written_in(self, document: Document) -> Self:
        """The same, its fields to be found in the document that it was read from."""
        self._written = SourceMap(document)
        return self

    def normalised(self) -> dict[str, Any]:
        """Plain YAML values, every default spelled out, that load as this very experiment.

        With units, as people write them: who changes a recorded one need not guess.
        """
        return self.model_dump(mode="json", context=WRITTEN)


def load_experiment(path: Path, settings: Sequence[SetField] = ()) -> Experiment:
    """Read an experiment, and the profile it names, with the fields of `settings` set.

    Raises InputError naming every mistake with file and line, or the setting, and field.
    """
    return experiment_in(*read_experiment(path, settings))


def read_experiment(
    path: Path, settings: Sequence[SetField] = ()
) -> tuple[Document, Mapping[Location, InputError]]:
    """The document, complete as far as it can be read, and what of it cannot, by location.

    Raises InputError for what is not an experiment at all.
    """
    return completed_document(read_document(path), settings)


def completed_document(
    document: Document, settings: Sequence[SetField] = ()
) -> tuple[Document, Mapping[Location, InputError]]:
    """The same, of a document that was parsed already, whose path says where its files lie."""
    if "matrix" in document.data:
        raise InputError(
            "matrix: this is many experiments in one",
            where=document.place_of(("matrix",)),
            remedy="run it with plimsoll matrix, or remove the section",
        )
    document, left = with_fields(document, settings)
    known = dict(_completed(document))
    document, unresolved = with_fields(document, [each for each, _ in left])
    for setting, error in unresolved:
        # What leads into a file that could not be read is not a mistake of its own.
        if setting.path.steps[:1] not in known:
            known[setting.place,] = error
    place_captures(document.data.get("profile"), document.path.parent)
    return document, known


def experiment_in(document: Document, known: Mapping[Location, InputError]) -> Experiment:
    """The experiment of a document that is complete but for the mistakes that are known.

    Raises InputError as above.
    """
    return document.validate(Experiment, known).written_in(document)


def complete(document: Document) -> None:
    """Put into an experiment's plain data what it takes from the file's name and folder.

    That is its name, and the profile and the intents where they are named. Raises InputError
    as above.
    """
    for mistakes in dict(_completed(document)).values():
        raise mistakes


def _completed(document: Document) -> Iterator[tuple[Location, InputError]]:
    """Complete the document's data; what cannot be read is reported with its location."""
    data, folder = document.data, document.path.parent
    data.setdefault("name", document.path.stem)
    named = data.get("profile")
    if isinstance(named, str):
        try:
            data["profile"] = load_profile(folder / named).model_dump(mode="json")
        except InputError as error:
            yield ("profile",), error
    else:
        place_captures(named, folder)
    for location, holder in _tuned(data):
        if isinstance(named := holder.get("tuning"), str):
            try:
                intent = _intent_next_to(document, named, location)
                holder["tuning"] = intent.model_dump(mode="json", exclude_unset=True)
            except InputError as error:
                yield location, error


def _tuned(data: dict[str, Any]) -> Iterator[tuple[Location, dict[str, Any]]]:
    """(location, mapping) of what may have an intent: the experiment and each host observed.

    What is not a mapping, where one is expected, is left for the models to report.
    """
    yield ("tuning",), data
    observe = data.get("observe")
    hosts = observe.get("hosts") if isinstance(observe, dict) else None
    for index, host in enumerate(hosts if isinstance(hosts, list) else ()):
        if isinstance(host, dict):
            yield ("observe", "hosts", index, "tuning"), host


def _intent_next_to(document: Document, named: str, location: Location) -> Intent:
    """The preset, or the file next to the experiment, whose mistakes are reported in place."""
    if named in preset_names():
        return load_preset(named)
    path = document.path.parent / named
    if not os.path.exists(path):
        presets = preset_names()
        raise InputError(
            f"{dotted(location)}: no such file next to the experiment, and no such preset: "
            f"{brief(named)}",
            where=document.place_of(location),
            remedy=did_you_mean(
                named, presets, f"check the path, or name a preset: {', '.join(presets)}"
            ),
        )
    return load_intent(path)
