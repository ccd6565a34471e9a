"""A line of kernel arguments that was really made, next to those that were expected."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.tune.expected.kernel_argument import KernelArgument, arguments_of, last_of_each


def disagreements(expected: Iterable[KernelArgument], line: str) -> list[str]:
    """What is missing from the line, and what of it was not expected; of a name the last counts."""
    made = {each.text for each in last_of_each(arguments_of(line, "the line"))}
    counting = last_of_each(expected)
    missing = [each.text for each in counting if each.required and made.isdisjoint(each.words)]
    known = {word for each in counting for word in each.words}
    return [f"{word} is missing" for word in missing] + [
        f"{word} was not expected" for word in sorted(made - known)
    ]
