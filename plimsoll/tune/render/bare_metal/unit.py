"""A script that a host runs once in each boot, and the systemd unit for it."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.render.files.rendered_file import RenderedFile


def script_and_unit(name: str, script: str, *, does: str, ordering: str) -> Iterator[RenderedFile]:
    """`ordering` are the unit's lines on when; it does without the usual ones."""
    undo = f"`systemctl disable {name}`, then remove its script and its unit, and restart the host."
    yield RenderedFile(f"host/usr/local/sbin/{name}", script, does=does, undo=undo, mode=0o755)
    yield RenderedFile(
        f"host/etc/systemd/system/{name}.service",
        "[Unit]\n"
        f"Description={does.rstrip('.')}\n"
        "DefaultDependencies=no\n"
        f"{ordering}\n\n"
        "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
        f"ExecStart=/usr/local/sbin/{name}\n\n"
        "[Install]\nWantedBy=basic.target\n",
        does=f"Runs that script: `systemctl enable --now {name}`.",
        undo=undo,
    )
