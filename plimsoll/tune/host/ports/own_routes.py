"""The host's routes, and what a capture keeps of them: by which interface the default leads.

That shows the ports that the host depends on; which networks and gateways it knows does not
concern the recipient of a capture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

ROUTES = "/proc/net/route"
ROUTES_6 = "/proc/net/ipv6_route"

_NOTHING, _NOTHING_6 = "0" * 8, "0" * 32


def default_routes(path: str, text: str) -> str:
    """Of the text of one of those two files the default routes, their gateways blotted out."""
    lines = text.splitlines()
    if path == ROUTES:
        # Interface, destination, gateway, flags, two counts, metric, mask (net/ipv4/fib_trie.c).
        return "\n".join([*lines[:1], *_kept(lines[1:], {1: _NOTHING, 7: _NOTHING}, gateway=2)])
    # Destination, its length, source, its length, next hop, metric … (net/ipv6/route.c).
    return "\n".join(_kept(lines, {0: _NOTHING_6, 1: "00"}, gateway=4))


def _kept(lines: Sequence[str], columns: Mapping[int, str], *, gateway: int) -> Iterator[str]:
    """The lines that have these words in these columns."""
    for words in (line.split() for line in lines):
        if all(words[column : column + 1] == [word] for column, word in columns.items()):
            words[gateway : gateway + 1] = ["0" * len(words[gateway])]
            yield "\t".join(words)
