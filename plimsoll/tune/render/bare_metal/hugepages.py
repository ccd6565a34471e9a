"""A host's hugepages on given NUMA nodes, which the kernel's command line cannot ask for."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.expected.hugepage_arguments import NodePages, node_pages
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.bare_metal.unit import script_and_unit
from plimsoll.tune.render.files.rendered_file import RenderedFile

_HEAD = """\
#!/bin/sh
# An argument is a root other than /.
set -u
root=${1-}
status=0

# The kernel gives as many as it finds whole, and says no word of the rest.
take() {
    echo "$1" > "$root$2"
    got=$(cat "$root$2")
    [ "$got" -ge "$1" ] || { echo "$2: $got pages of $1" >&2; status=1; }
}

"""


def render_node_pages(intent: Intent) -> Iterator[RenderedFile]:
    """Only where pages name a node."""
    pages = node_pages(intent.hugepages)
    if not pages:
        return
    message = ", ".join(_described(each) for each in pages)
    yield from script_and_unit(
        "plimsoll-hugepages",
        _HEAD + "".join(f"take {each.count} {each.sysfs}\n" for each in pages) + "exit $status\n",
        does=f"Sets hugepages aside early in each boot: {message}.",
        # Before anything has had the time to divide the memory.
        ordering="After=local-fs.target\nBefore=sysinit.target",
    )


def _described(pages: NodePages) -> str:
    return f"{pages.count} of {pages.page_kb} kB on node {pages.node}"
