"""Files of one name at any depth."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.host.view.host_view import HostView

# Pods' groups lie seven deep; links that lead in circles end here.
_DEEPEST = 12


def walk(view: HostView, directory: str, name: str, depth: int = 0) -> Iterator[str]:
    """The paths of all files called `name` below `directory`, those further up first.

    A directory that cannot be listed has none. Raises nothing.
    """
    names = view.listing(directory)
    if names is None or depth > _DEEPEST:
        return
    if name in names:
        yield f"{directory}/{name}"
    for each in names:
        yield from walk(view, f"{directory}/{each}", name, depth + 1)
