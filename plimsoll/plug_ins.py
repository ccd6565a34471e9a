"""Kinds of one sort, such as labs: modules of ours, and what other distributions add to them.

A module registers itself by its name, the kind's, and is imported when that kind is used.
Other distributions name theirs in an entry point group, under the kind's name.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Generic, TypeVar, get_args

from plimsoll.errors import MachineError

M = TypeVar("M")


@dataclass(frozen=True)
class ByModule(Mapping[str, type[M]], Generic[M]):
    """By kind, what `attribute` is in the modules of `package`, which are called as the kinds are.

    Where the kinds are folders, it is in the module `part` of each. Each is imported when used.
    """

    package: str
    attribute: str
    part: str = ""

    def __getitem__(self, kind: str) -> type[M]:
        if kind not in self:
            raise KeyError(kind)
        module = f"{self.package}.{kind.replace('-', '_')}"
        found: type[M] = getattr(
            import_module(f"{module}.{self.part}" if self.part else module), self.attribute
        )
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_kinds_in(self.package, self.part))

    def __len__(self) -> int:
        return len(_kinds_in(self.package, self.part))

    def __contains__(self, kind: object) -> bool:
        return kind in _kinds_in(self.package, self.part)


@dataclass(frozen=True)
class PlugIns(Mapping[str, type[M]], Generic[M]):
    """By kind, ours first, the models of `base`; `group` is where other distributions name theirs.

    One of theirs that does not load is in the way of nothing but its own use.
    """

    base: type[M]
    group: str
    ours: Callable[[], Mapping[str, type[M]]]

    def __getitem__(self, kind: str) -> type[M]:
        """That kind's. Raises KeyError, and MachineError where another distribution's is unfit."""
        ours = self.ours()
        return ours[kind] if kind in ours else self._foreign(foreign(self.group)[kind])

    def __iter__(self) -> Iterator[str]:
        ours = self.ours()
        yield from ours
        yield from (each for each in sorted(foreign(self.group)) if each not in ours)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, kind: object) -> bool:
        """Without importing it."""
        return kind in self.ours() or kind in foreign(self.group)

    def loadable(self) -> Mapping[str, type[M]]:
        """Those that load."""
        return {kind: model for kind, model in self._each() if not isinstance(model, MachineError)}

    def unloadable(self) -> Mapping[str, MachineError]:
        """Why each of the others does not."""
        return {kind: model for kind, model in self._each() if isinstance(model, MachineError)}

    def _each(self) -> Iterator[tuple[str, type[M] | MachineError]]:
        for kind in self:
            try:
                yield kind, self[kind]
            except MachineError as error:
                yield kind, error

    def _foreign(self, entry: EntryPoint) -> type[M]:
        found = loaded(entry, entry.value, entry.load)
        if not (isinstance(found, type) and issubclass(found, self.base)):
            raise _unfit(entry, entry.value, f"it is no {self.base.__name__}")
        if entry.name not in kinds_of(found):
            raise _unfit(entry, entry.value, f"its kind is not {entry.name}")
        return found


def kinds_of(model: type[Any]) -> tuple[str, ...]:
    """The kinds that a model serves, mostly one."""
    return get_args(model.model_fields["kind"].annotation)


def registered(packages: Iterable[str], attribute: str) -> Iterator[Any]:
    """What has this name in the modules of these packages, in alphabetical order of the modules.

    For kinds that are not called as their modules are; all of the modules are imported.
    """
    for package in packages:
        for each in sorted(module.name for module in _modules_of(package)):
            module = import_module(f"{package}.{each}")
            if attribute in vars(module):
                yield vars(module)[attribute]


@cache
def foreign(group: str) -> Mapping[str, EntryPoint]:
    """By name; they are looked for once, in all that is installed in this environment."""
    return {each.name: each for each in entry_points(group=group)}


def loaded(entry: EntryPoint, where: str, load: Any) -> Any:
    """What `load` returns. Raises MachineError, whatever the code of others raises."""
    try:
        return load()
    # It is their fault, and is said to be.
    except Exception as error:
        raise _unfit(entry, where, f"{type(error).__name__}: {error}") from error


def _unfit(entry: EntryPoint, where: str, problem: str) -> MachineError:
    """That another distribution's part cannot be used."""
    distribution = entry.dist.name if entry.dist else "an unknown distribution"
    sort = entry.group.rpartition(".")[2].removesuffix("s")
    return MachineError(
        f"the {sort} {entry.name} of {distribution} does not load: {problem}",
        where=where,
        remedy=f"install another version of {distribution}, or remove it",
    )


@cache
def _kinds_in(package: str, part: str) -> tuple[str, ...]:
    names = (
        each.name
        for each in _modules_of(package)
        if not part or (each.ispkg and find_spec(f"{package}.{each.name}.{part}") is not None)
    )
    return tuple(sorted(name.replace("_", "-") for name in names))


def _modules_of(package: str) -> Iterator[pkgutil.ModuleInfo]:
    return pkgutil.iter_modules(import_module(package).__path__)
