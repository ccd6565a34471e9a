"""What a document can have run is marked by the type of its field, whichever plug-in brings it.

By these marks `plimsoll serve` refuses what the operator has not listed.
"""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.churn.settings import ChurnExperiment
from plimsoll.dut.registry.labs import LABS
from plimsoll.generator.generator_plan import GeneratorModel
from plimsoll.generator.registry.generators import GENERATORS
from plimsoll.neighbours.registry import neighbours
from plimsoll.text.named_program import ALLOWED_KEY, AllowedPrograms, NamesProgram, NotRun
from plimsoll.trial.criteria.registry import CRITERIA

ROOT = Path(__file__).resolve().parents[2]
# Of a field of text by that name it must be said whether what it names is run.
TELLING = re.compile(
    r"(?:^|_)(?:argv|arguments|binary|command|devargs|directory|exec|executable|file|folder|image"
    r"|interpreter|kubeconfig|library|module|path|plugin|programs?|python|script|shell|tree)(?:$|_)"
)


def documents() -> set[type[BaseModel]]:
    """The models of what people write, and of what the journals of methods keep."""
    plug_ins = (*GENERATORS.values(), *LABS.values(), *CRITERIA.values(), *neighbours().values())
    found = {Experiment, ChurnExperiment, *plug_ins}
    rooms = (ROOT / "plimsoll" / layer for layer in ("benchmark", "methods"))
    for path in (path for room in rooms for path in room.glob("*/settings.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for each in vars(importlib.import_module(name)).values():
            if isinstance(each, type) and issubclass(each, BaseModel) and each.__module__ == name:
                found.add(each)
    return found


def parts(annotation: Any) -> Iterator[Any]:
    """A type, the types that it is made of, and their marks."""
    yield annotation
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
    for each in get_args(annotation):
        yield from parts(each)


def reachable(roots: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """These models, and all that are in their fields."""
    seen: set[type[BaseModel]] = set()
    left = list(roots)
    while left:
        model = left.pop()
        if model in seen:
            continue
        seen.add(model)
        for field in model.model_fields.values():
            for each in parts(field.annotation):
                if isinstance(each, type) and issubclass(each, BaseModel):
                    left.append(each)
    return seen


def marks(field: FieldInfo) -> list[object]:
    found = [*field.metadata, *parts(field.annotation)]
    return [each for each in found if isinstance(each, NamesProgram | NotRun)]


def is_telling(name: str, field: FieldInfo) -> bool:
    """Whether the field is a path, or text by a name that suggests a program or a file."""
    types = list(parts(field.annotation))
    return Path in types or (str in types and TELLING.search(name) is not None)


def unmarked(models: set[type[BaseModel]]) -> list[str]:
    return sorted(
        f"{model.__module__}.{model.__name__}.{name}"
        for model in models
        for name, field in model.model_fields.items()
        if is_telling(name, field) and not marks(field)
    )


def running() -> list[tuple[str, FieldInfo]]:
    return sorted(
        (
            (f"{model.__name__}.{name}", field)
            for model in reachable(documents())
            for name, field in model.model_fields.items()
            if any(isinstance(each, NamesProgram) for each in marks(field))
        ),
        key=lambda named: named[0],
    )


def test_every_field_that_may_name_a_program_says_whether_it_is_run() -> None:
    assert unmarked(reachable(documents())) == []


def test_a_plug_in_that_says_nothing_is_found() -> None:
    class Silent(GeneratorModel):
        program: str = "sender"
        tree: Path | None = None
        arguments: tuple[str, ...] = ()
        burst: int = 1

    found = [each.rpartition(".")[2] for each in unmarked({Silent})]
    assert found == ["arguments", "program", "tree"]


def test_the_fields_known_to_run_something_are_among_them() -> None:
    names = {name for name, _ in running()}
    assert {
        "PktgenSettings.program",
        "TrexSettings.tree",
        "TrexSettings.python",
        "MoonGenSettings.tree",
        "OvsSettings.guest_image",
        "BeforeTrial.command",
        "ResetSettings.command",
        "TesterPortSettings.devargs",
        "OwnCluster.programs",
        "GivenCluster.kubeconfig",
    } <= names


@pytest.mark.parametrize(("name", "field"), running(), ids=[name for name, _ in running()])
@pytest.mark.parametrize("program", ["/bin/sh", "net_failsafe0,exec(/bin/sh)"])
def test_without_a_list_none_of_them_runs_anything(
    name: str, field: FieldInfo, program: str
) -> None:
    whole = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    given = [program] if "command" in name else program
    adapter: TypeAdapter[Any] = TypeAdapter(whole)
    adapter.validate_python(given)
    with pytest.raises(ValidationError, match="not on the list"):
        adapter.validate_python(given, context={ALLOWED_KEY: AllowedPrograms()})
