"""The verdict on a run of several parts, by the verdicts on them."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.record.trials.trial_record import Verdict

# What weighs more comes first: one part that failed makes the whole fail.
_WEIGHTIEST_FIRST: tuple[Verdict, ...] = ("fail", "invalid", "pass")


def whole_verdict(parts: Iterable[Verdict | None]) -> Verdict:
    """Fail where a part failed, else invalid where one was, else pass; "none" without any.

    A part that was not judged ("none", or None in records of older versions) does not count.
    """
    found = set(parts)
    return next((verdict for verdict in _WEIGHTIEST_FIRST if verdict in found), "none")
