"""The experiment: everything a run is asked to do, as one YAML document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.benchmark.trial_settings import TrialSettings
from plimsoll.dut.registry import LabSettings
from plimsoll.dut.testpmd import TestpmdSettings
from plimsoll.generator.settings import EngineSettings
from plimsoll.search.binary_settings import BinarySettings
from plimsoll.traffic.document import read_document
from plimsoll.traffic.profile import Profile
from plimsoll.traffic.trafficgen import load_profile
from plimsoll.trial.criteria.registry import CriterionSettings, default_criteria
from plimsoll.trial.tester import TesterLimits


class Experiment(BaseModel):
    """One run, named after its file unless it says otherwise.

    `profile` is written in place, or as the path of a file beside the experiment.
    `require_hugepages` makes a machine without them an error instead of a slower run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    lab: LabSettings = TestpmdSettings()
    generator: EngineSettings = EngineSettings()
    require_hugepages: bool = False
    profile: Profile
    trial: TrialSettings = TrialSettings()
    criteria: Annotated[tuple[CriterionSettings, ...], Field(min_length=1)] = Field(
        default_factory=default_criteria
    )
    tester: TesterLimits = TesterLimits()
    search: BinarySettings

    def validated_for(self, duration_s: float) -> Self:
        """The same with another length of the validation."""
        validation = self.search.validation.model_copy(update={"duration": duration_s})
        search = self.search.model_copy(update={"validation": validation})
        return self.model_copy(update={"search": search})

    def normalised(self) -> dict[str, Any]:
        """Plain YAML values, every default spelled out, that load as this very experiment."""
        return self.model_dump(mode="json")


def load_experiment(path: Path) -> Experiment:
    """Read an experiment, and the profile it names.

    Raises InputError naming file, line and field of every mistake.
    """
    document = read_document(path)
    if isinstance(document.data, dict):
        document.data.setdefault("name", path.stem)
        named = document.data.get("profile")
        if isinstance(named, str):
            document.data["profile"] = load_profile(path.parent / named).model_dump(mode="json")
    return document.validate(Experiment)
