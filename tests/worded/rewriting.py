"""The files of tests/wording, written anew from what tests said."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from tests.worded import held_file
from tests.worded.held_file import Entry
from tests.worded.placeholders import CHECKOUT
from tests.worded.subjects import SUBJECTS, subject_of


@dataclass
class Heard:
    """`modules` are those of which every test was collected, `collected` the tests that say."""

    said: dict[Entry, str] = field(default_factory=dict)
    ran: set[tuple[str, str, str]] = field(default_factory=set)
    collected: set[tuple[str, str, str]] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)

    def add(self, other: Heard) -> None:
        self.said |= other.said
        self.ran |= other.ran
        self.collected |= other.collected
        self.modules |= other.modules

    def sent(self) -> str:
        """From a worker, as one text."""
        return json.dumps(
            {
                "said": [[asdict(entry), text] for entry, text in self.said.items()],
                "ran": sorted(self.ran),
                "collected": sorted(self.collected),
                "modules": sorted(self.modules),
            }
        )

    @classmethod
    def received(cls, text: str) -> Heard:
        sent = json.loads(text)
        return cls(
            said={Entry(**entry): said for entry, said in sent["said"]},
            ran={tuple(item) for item in sent["ran"]},
            collected={tuple(item) for item in sent["collected"]},
            modules=set(sent["modules"]),
        )

    def outdated(self, entry: Entry) -> bool:
        """Whether the test is no more, or said what it now says without this."""
        if entry.item in self.ran:
            return entry not in self.said
        if entry.module in self.modules:
            return entry.item not in self.collected
        path = CHECKOUT / entry.module
        return not path.exists() or "tests.worded.says" not in path.read_text(encoding="utf-8")


def rewrite(heard: Heard) -> None:
    """Replace what was said anew, keep what did not run, and leave out what no test says."""
    files: dict[str, dict[Entry, str]] = {subject: {} for subject in SUBJECTS.values()}
    for path in held_file.FOLDER.glob("*.txt"):
        for entry, text in held_file.read(path).items():
            if not heard.outdated(entry):
                files[subject_of(entry.module)][entry] = text
    for entry, text in heard.said.items():
        files[subject_of(entry.module)][entry] = text
    for subject, entries in files.items():
        held_file.write(held_file.FOLDER / f"{subject}.txt", entries)
