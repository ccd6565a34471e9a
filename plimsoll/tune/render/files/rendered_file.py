"""A file made from an intent, with what its reader has to know of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

_SHEBANG = "#!"


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """`path` is relative, with forward slashes.

    `does` and `undo` are sentences for the README, `notes` comment lines at the file's head.
    Files of which `commented` is false have no comments in their format.
    """

    path: str
    text: str
    does: str
    undo: str
    notes: tuple[str, ...] = ()
    mode: int = 0o644
    commented: bool = True

    @property
    def folder(self) -> str:
        """The first folder of the path; empty where there is none."""
        return self.path.partition("/")[0] if "/" in self.path else ""

    def with_header(self, header: str) -> RenderedFile:
        """With a comment that starts with `header`, before all but a script's first line."""
        if not self.commented:
            return self
        comment = "".join(f"# {line}\n" for line in (header, *self.notes))
        first, end, rest = self.text.partition("\n")
        if first.startswith(_SHEBANG):
            return replace(self, text=first + end + comment + rest)
        return replace(self, text=comment + self.text)
