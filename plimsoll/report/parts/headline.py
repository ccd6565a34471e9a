"""The first screen of every page: the answer, why it is not higher, and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.report.parts.finding_lines import FindingLine


@dataclass(frozen=True, slots=True)
class Headline:
    """What any kind of run begins its page with.

    `kicker` says what was looked for. The answer is `value` with its `unit`, or, where no figure
    answers, `statement`. `outcome` is the verdict's mark (pass, fail, invalid, none) and
    `outcome_words` what stands behind it. `facts` are (figure, what it is). `limit` says what
    limits the answer, by which cause, or why there is none; `trust` how far to believe it.
    `criteria` were measured in `criteria_of`. `warnings` come before everything, `exact` is
    folded: figures to all digits, and notes on how they were found.
    """

    kicker: str
    outcome: str
    outcome_words: str
    value: str = ""
    unit: str = ""
    statement: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    limit: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()
    criteria: tuple[FindingLine, ...] = ()
    criteria_of: str = ""
    warnings: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """For the browser's tab: "Load line 2.742 Mpps per direction"."""
        answer = " ".join(part for part in (self.value, self.unit) if part) or self.statement
        return f"{self.kicker}: {answer}" if answer not in ("", self.kicker) else self.kicker


def trials_trust(judged: int, invalid: int, reason: str = "") -> str:
    """How many of the judged trials the tester spoiled; `reason` is the most frequent one."""
    if not judged:
        return "No trial has been judged yet."
    trials = "the one judged trial was" if judged == 1 else f"all {judged} judged trials were"
    if not invalid:
        return f"{trials[0].upper()}{trials[1:]} valid."
    why = f", mostly by: {reason[0].lower()}{reason[1:]}" if reason else ""
    return (
        f"{invalid} of {judged} judged trials were invalid: the tester was disturbed{why}. "
        "They count neither for nor against the DUT."
    )
