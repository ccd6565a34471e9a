"""In which order a host gets a rendering, each step with the command that proves it done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.rendered_file import RenderedFile


def host_steps(intent: Intent, files: Sequence[RenderedFile]) -> Iterator[str]:
    """The steps, in Markdown, without their numbers."""
    if any(each.path == "bios-checklist.md" for each in files):
        yield "Set the firmware by `bios-checklist.md`, whose last column is where it shows."
    units = [each.path for each in files if each.path.endswith(".service")]
    names = " ".join(path.rpartition("/")[2].removesuffix(".service") for path in units)
    yield "Read what is under `host/`, then, as root: `cp -r host/. / && systemctl daemon-reload`."
    yield "The kernel's command line: `grubby` or `update-grub`, as above."
    yield f"`systemctl enable {names}`. Done when `systemctl is-enabled {names}` says enabled."
    profiled = any(each.path.endswith("/tuned.conf") for each in files)
    if profiled:
        yield (
            f"With TuneD installed: `tuned-adm profile plimsoll-{intent.name}`. Done when "
            "`tuned-adm active` names it; it comes back at each boot."
        )
    proofs = [
        "`cat /proc/cmdline` has the arguments below",
        f"`systemctl is-active {names}` says active",
        *(["`tuned-adm verify --ignore-missing` succeeds"] if profiled else []),
    ]
    yield f"Restart the host. Done when {', '.join(proofs[:-1])} and {proofs[-1]}."
    if any(each.folder == "generator" for each in files):
        yield "`generator/` goes to the generator's host."
