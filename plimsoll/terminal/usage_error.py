"""What Typer refuses of a command line, in the words that all errors have."""

from __future__ import annotations

from typing import Any

import typer

from plimsoll.errors import InputError
from plimsoll.text.mistakes import did_you_mean


def usage_error(refusal: typer.TyperException) -> InputError:
    """The refusal with its place, an option or the command, and what to do."""
    context: Any = getattr(refusal, "ctx", None)
    command = context.command_path if context else "plimsoll"
    help_command = f"{command} --help" if context else "the command's --help"
    if isinstance(refusal, typer.BadParameter) and refusal.param is not None:
        return _of_parameter(refusal, refusal.param, command, help_command)
    # Typer keeps its other exceptions to itself; what they have tells them apart.
    option: str = getattr(refusal, "option_name", "")
    if hasattr(refusal, "possibilities"):
        return InputError(
            f"there is no option {option}",
            where=command,
            remedy=did_you_mean(option, refusal.possibilities or (), f"see {help_command}"),
        )
    said = _clause(refusal.format_message())
    return InputError(
        said.removeprefix(f"option {option!r} "),
        where=option or command,
        remedy=f"see {help_command}",
    )


def _of_parameter(
    refusal: typer.BadParameter, parameter: Any, command: str, help_command: str
) -> InputError:
    name = parameter.get_error_hint().replace("'", "")
    remedy = f"{help_command} says what it takes"
    if refusal.message:
        return InputError(_clause(refusal.message), where=name, remedy=remedy)
    # One that is missing has no message of its own.
    said = f"the {parameter.param_type_name} {name} is missing"
    return InputError(said, where=command, remedy=f"give it; {remedy}")


def _clause(sentence: str) -> str:
    """What can follow a place and a colon."""
    return (sentence[:1].lower() + sentence[1:]).rstrip(".")
