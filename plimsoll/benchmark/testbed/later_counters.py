"""Whether the DUT still sends after the drain, so that its counters are not those of the trial."""

from __future__ import annotations

import time
from dataclasses import replace

from plimsoll.dut.lab import Lab
from plimsoll.trial.judging.dut_agreement import counter_sums
from plimsoll.trial.outcome.outcome import Outcome

# Several times as long as the counters were read after the tester's last look at its ports.
_LATER_S = 0.5


def with_later_counters(outcome: Outcome, lab: Lab) -> Outcome:
    """The outcome, with the DUT's counters read again where it counts more than came back.

    Raises LabDied and MachineError.
    """
    sums = counter_sums(outcome)
    if not any(each.direction == "out-of" and each.dut > each.tester for each in sums):
        return outcome
    time.sleep(_LATER_S)
    return replace(outcome, dut_later=lab.counters())
