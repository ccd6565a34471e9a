"""A virtual machine, and what an audit must say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.text.document import parse_document
from plimsoll.tune.audit.audit import Audit
from plimsoll.tune.audit.finding import CheckVerdict
from plimsoll.tune.intent.intent import Intent

HERE = Path(__file__).parent


@dataclass(frozen=True)
class TunedSystem:
    """`tune` is shell that the guest runs before it is looked at, `machine` QEMU's options.

    `modules` of its kernel are loaded besides those of all guests, and `files` are in its file
    system, by absolute path; all of them may be executed.
    `verdicts` are by the number of the check, and `message` what must stand in its text.
    """

    name: str
    arguments: str
    tune: str
    intent: str
    verdicts: dict[int, CheckVerdict]
    message: dict[int, str] = field(default_factory=dict)
    machine: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def declared(self) -> Intent:
        """The intent."""
        return parse_document(Path(f"{self.name}.yaml"), self.intent).validate(Intent)

    def disagreements(self, done: Audit) -> list[str]:
        """Where the audit says other than what was worked out; empty is as it should be."""
        found = {finding.number: finding for finding in done.findings}
        verdicts = [
            f"{number} {found[number].name}: {found[number].verdict}, not {verdict}: "
            f"{found[number].text}"
            for number, verdict in self.verdicts.items()
            if found[number].verdict != verdict
        ]
        texts = [
            f"{number} {found[number].name}: {text!r} is not in {found[number].text!r}"
            for number, text in self.message.items()
            if text not in found[number].text
        ]
        return verdicts + texts

    @property
    def capture(self) -> Path:
        """What `plimsoll tune audit --root` reads."""
        return HERE / f"{self.name}.tar.gz"
