"""The kernel's command line of a host, for people and for GRUB."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from plimsoll.tune.expected.host_arguments import host_arguments
from plimsoll.tune.expected.kernel_argument import Vendor, command_line, last_of_each
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.rendered_file import RenderedFile

PATH = "kernel-command-line.txt"


def render_command_line(intent: Intent, vendor: Vendor) -> Iterator[RenderedFile]:
    """The arguments in one line, and as a drop-in of GRUB's configuration."""
    line = command_line(last_of_each(host_arguments(intent, vendor)))
    yield RenderedFile(
        PATH,
        line + "\n",
        does="The kernel's arguments. RHEL and its kin: "
        f'`grubby --update-kernel=ALL --args="$(cat {PATH})"`.',
        undo=f'`grubby --update-kernel=ALL --remove-args="$(cat {PATH})"`',
        commented=False,
    )
    yield RenderedFile(
        f"host/etc/default/grub.d/50-plimsoll-{intent.name}.cfg",
        # A shell reads it, and it comes after what is there.
        f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX "{shlex.quote(line)}\n',
        does="The same arguments where Debian's and Ubuntu's GRUB looks: run `update-grub`.",
        undo="Remove the file and run `update-grub`.",
    )
