"""What happens before a trial, as written in an experiment under `trial`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll.text.mistakes import brief, mistake
from plimsoll.text.named_program import RunCommand
from plimsoll.text.units import DurationField

_REMEDY = "write its words as a list, such as [ssh, dut, ovs-appctl, fdb/flush]; no shell reads it"


def _words(given: object) -> object:
    """What pydantic would report once for each word, reported once."""
    words = given if isinstance(given, list | tuple) else ()
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words):
        raise mistake(f"found {brief(given)}", _REMEDY)
    if not words[0]:
        raise mistake("the first word is empty and names no program", _REMEDY)
    return given


class BeforeTrial(BaseModel):
    """A command run before every trial, and how long it may take.

    In an experiment the command may stand alone: `before: [./flush-tables, eth1]`. It is an
    argument vector, and no shell reads it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Annotated[tuple[str, ...], BeforeValidator(_words), RunCommand()]
    timeout: Annotated[DurationField, Field(le=86400)] = 60.0


def _alone(given: Any) -> Any:
    return given if isinstance(given, dict | BeforeTrial) or given is None else {"command": given}


BeforeTrialField = Annotated[BeforeTrial | None, BeforeValidator(_alone)]
