"""One rule applied to one subject."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.record.trials.finding_record import FindingOutcome


@dataclass(frozen=True, slots=True)
class Finding:
    """What `rule` says of `subject` (a stream, a direction, a port, a worker, the trial).

    `value` and `limit` are in `unit`; None where there was nothing to measure or
    to hold it against. `text` is a sentence for people. `fail` is the DUT's,
    `invalid` the tester's. One that `spoils` the trial makes it invalid whatever else was
    found: what the DUT did under such conditions is no evidence about it. One that is
    `undecided` is `invalid` because stalls of the tester leave open by how much the DUT alone
    would have kept or broken the limit.
    """

    rule: str
    subject: str
    value: float | None
    limit: float | None
    unit: str
    outcome: FindingOutcome
    text: str
    invalidates_trial: bool = False
    undecided: bool = False
