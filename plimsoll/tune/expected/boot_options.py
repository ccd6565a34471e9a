"""How TuneD makes one command line of the [bootloader] sections of profiles and their parents.

As in redhat-performance/tuned at commit 35eed3ca: profiles/merger.py, and
_get_effective_options of plugins/plugin_bootloader.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.tune.expected.kernel_argument import KernelArgument, arguments_of


def boot_line(
    options: Mapping[str, Iterable[KernelArgument]], patch: Mapping[str, str], source: str
) -> tuple[KernelArgument, ...]:
    """The arguments of the options, in their order, with those of a profile that includes them.

    An option of the patch takes the place of the one that has its name, others come last.
    Its text is added, with or without a "+" before it; with a "-" its words are taken out of
    what comes before. `source` is the patch's name.
    """
    merged: dict[str, Iterable[KernelArgument] | str] = {**options}
    merged.update((name, text) for name, text in patch.items() if name.startswith("cmdline"))
    line: list[KernelArgument] = []
    for option in merged.values():
        if not isinstance(option, str):
            line += option
        elif option.startswith("-"):
            line = _without(line, option[1:].split())
        else:
            line += arguments_of(option.removeprefix("+"), source)
    return tuple(line)


def _without(line: list[KernelArgument], words: Iterable[str]) -> list[KernelArgument]:
    taken_out = frozenset(words)
    return [each for each in line if taken_out.isdisjoint(each.words)]
