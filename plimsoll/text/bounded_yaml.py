"""YAML from anywhere: how deep it nests and what its aliases unfold to is known before it is built.

PyYAML builds nested values by recursion: in Python that ends in a RecursionError, in libyaml's
binding in a segmentation fault. Aliases let a few lines stand for more values than memory
holds, once something walks through them. A pass over the parser's events finds both first,
without recursion and without keeping anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from plimsoll.text.json_text import depth, parse_json

# Experiments, intents and cluster objects nest some ten deep.
MOST_DEEP = 100
# Nodes, aliases unfolded: hundreds of times what the largest experiment has.
MOST_NODES = 1_000_000
# libyaml's, where PyYAML was built with it: ten times as fast.
QUICK_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class UnboundedYaml(yaml.MarkedYAMLError):
    """It nests too deep, unfolds to too much, or has aliases where none may be."""


@dataclass
class _Walk:
    """Where the pass is: the collections that are open, and what each anchor unfolds to.

    `sizes` holds, for each open collection, the nodes in it so far and its anchor.
    """

    aliases: bool
    anchors: dict[str, int] = field(default_factory=dict)
    sizes: list[tuple[int, str | None]] = field(default_factory=lambda: [(0, None)])

    def take(self, event: yaml.Event) -> None:
        anchor = getattr(event, "anchor", None)
        if anchor is not None and not self.aliases:
            raise _refused(event, "has an anchor or alias")
        if isinstance(event, yaml.AliasEvent):
            self._add(event, self._unfolded(event, anchor))
        elif isinstance(event, yaml.ScalarEvent):
            self._name(anchor, 1)
            self._add(event, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            self.sizes.append((1, anchor))
            if len(self.sizes) - 1 > MOST_DEEP:
                raise _refused(event, "is nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            size, anchor = self.sizes.pop()
            self._name(anchor, size)
            self._add(event, size)

    def _name(self, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = size

    def _unfolded(self, event: yaml.Event, anchor: str | None) -> int:
        if any(name == anchor for _, name in self.sizes):
            raise _refused(event, "has an alias of something that it is a part of")
        # Of an anchor that is not there the parser's own error tells.
        return self.anchors.get(anchor or "", 1)

    def _add(self, event: yaml.Event, nodes: int) -> None:
        size, anchor = self.sizes[-1]
        if size + nodes > MOST_NODES:
            raise _refused(event, f"holds more than {MOST_NODES:,} values, aliases unfolded")
        self.sizes[-1] = (size + nodes, anchor)


def check_bounds(text: str, loader: Any = QUICK_LOADER, *, aliases: bool = True) -> None:
    """Raise UnboundedYaml, with the line, for what must not be built by `loader`.

    Without `aliases` an anchor is refused, too. Raises yaml.YAMLError for invalid YAML.
    """
    walk = _Walk(aliases)
    for event in yaml.parse(text, Loader=loader):
        walk.take(event)


def check_json_depth(value: Any) -> None:
    """Raise UnboundedYaml for what `parse_json` read and is nested too deep."""
    if depth(value) > MOST_DEEP:
        raise UnboundedYaml(None, None, "is nested too deeply")


def load_yaml(text: str, *, aliases: bool = True) -> Any:
    """The plain values that `text` holds, as YAML 1.1 or, where it is JSON, as JSON has them.

    Raises ValueError with the reason, and the line where it has one, for what is not valid YAML,
    holds more than plain values, or is beyond the bounds.
    """
    try:
        if (value := parse_json(text)) is not None:
            check_json_depth(value)
            return value
        check_bounds(text, aliases=aliases)
        return yaml.load(text, Loader=QUICK_LOADER)  # noqa: S506 the loader is a safe one
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"{line}{error.problem or 'is not YAML'}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"is not YAML ({type(error).__name__})") from None


def _refused(event: yaml.Event, what: str) -> UnboundedYaml:
    mark: Any = event.start_mark
    return UnboundedYaml(None, None, what, mark)
