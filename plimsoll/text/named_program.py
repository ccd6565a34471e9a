"""Fields of documents that say what is run, and the list of what a document may have run.

An experiment that comes to a server of ours may name a program. The type of such a field
has one of these marks, and where a list is in force a value that is not on it is refused as it is
read: in an experiment, in the settings of a journal, in a document of any method.
"""

from __future__ import annotations

import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from plimsoll.text.mistakes import mistake
from plimsoll.text.plain_text import plain_text

# A JSON list of paths: what the documents that a process reads may have run. Servers set it for
# the runs that they start.
ALLOWED_VARIABLE = "PLIMSOLL_ALLOWED_PROGRAMS"
# The same list in the context in which pydantic validates a document.
ALLOWED_KEY = "allowed_programs"
_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class AllowedPrograms:
    """Absolute paths of programs and folders, as the operator wrote them."""

    paths: tuple[str, ...] = ()

    @property
    def environment(self) -> Mapping[str, str]:
        """For a process whose documents may have these run, and nothing else."""
        return {ALLOWED_VARIABLE: json.dumps(self.paths)}

    def listed(self, path: str) -> str | None:
        """The listed path that leads to the same file; None where none does.

        It is this one that must be run: a link that others may change can lead elsewhere by then.
        """
        if "\0" in path:
            return None
        real = os.path.realpath(path)
        return next((each for each in self.paths if os.path.realpath(each) == real), None)


NOTHING = AllowedPrograms()


class NamesProgram(ABC):
    """In `Annotated`: the field's value says what is run."""

    @abstractmethod
    def permitted(self, value: Any, allowed: AllowedPrograms) -> Any:
        """The value with the listed path in it. Raises a mistake where it is not on the list."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.with_info_after_validator_function(self._checked, handler(source))

    def _checked(self, value: Any, info: ValidationInfo) -> Any:
        allowed = _in_force(info.context)
        return value if allowed is None else self.permitted(value, allowed)


@dataclass(frozen=True)
class Program(NamesProgram):
    """A program by its name on PATH or by its path.

    `usual` is the name that is taken where the document has none: what it leads to is up to the
    PATH of who runs us, as with the programs that no document can name.
    """

    usual: str = ""

    def permitted(self, value: str, allowed: AllowedPrograms) -> str:
        """Listed, or the usual name."""
        if value == self.usual:
            return value
        found = None if "\0" in value else shutil.which(value)
        return _listed(found or value, value, allowed)


@dataclass(frozen=True)
class RunCommand(NamesProgram):
    """An argument vector, of which the first word is a program; its arguments may be any."""

    def permitted(self, value: tuple[str, ...], allowed: AllowedPrograms) -> tuple[str, ...]:
        """With the program listed; or empty."""
        return (Program().permitted(value[0], allowed), *value[1:]) if value else value


@dataclass(frozen=True)
class ProgramPath(NamesProgram):
    """A file that has programs run, or a folder of programs."""

    def permitted(self, value: Path | str, allowed: AllowedPrograms) -> Path | str:
        """Listed, of the same type."""
        return type(value)(_listed(str(value), str(value), allowed))


@dataclass(frozen=True)
class NotRun:
    """In `Annotated`: nothing that the field names is run. `because` says what it is instead."""

    because: str


def not_on_the_list(what: str, remedy: str) -> PydanticCustomError:
    """The mistake of a field that would have something run."""
    shown = plain_text(what, _MAX_SHOWN)
    return mistake(f"{shown} is not on the list of programs that may be run here", remedy)


def _listed(path: str, written: str, allowed: AllowedPrograms) -> str:
    found = allowed.listed(path)
    if found is None:
        raise not_on_the_list(
            written,
            "start the server with --allow-program and this path, or run it from a terminal",
        )
    return found


def _in_force(context: object) -> AllowedPrograms | None:
    """The list of this validation, else that of this process; None where there is none."""
    given = context.get(ALLOWED_KEY) if isinstance(context, Mapping) else None
    if isinstance(given, AllowedPrograms):
        return given
    text = os.environ.get(ALLOWED_VARIABLE)
    return None if text is None else AllowedPrograms(_paths_in(text))


def _paths_in(text: str) -> tuple[str, ...]:
    """None of what is damaged: then nothing may be run."""
    try:
        paths = json.loads(text)
    except ValueError:
        return ()
    return tuple(each for each in paths if isinstance(each, str)) if isinstance(paths, list) else ()
