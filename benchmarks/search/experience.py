"""One search on one simulated DUT, and the soak that its load line is then put to."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from benchmarks.search.contestants import CONTESTANTS, VALIDATION_S
from benchmarks.search.simulated_bed import SimulatedBed
from benchmarks.search.subjects import Subject
from plimsoll.dut.labs.simulated import SimulatedSettings
from plimsoll.search.strategy.ask import ONLY_GOAL, Ask, Finished
from plimsoll.trial.criteria.loss_ratio import LossRatio

# Five days and nights of failed validations: no one goes on.
_MAX_VALIDATIONS = 40
_MAX_TRIALS = 2000
# Soaks see another DUT of the same make.
_SOAK_SEED = 1 << 32


@dataclass(frozen=True)
class Experience:
    """What became of it. `overhead_s` is all simulated time but the validation that passed.

    `load_pps` is None for a search that found nothing or was given up; `survived` says
    whether the load then held through an independent validation, and `survival` how likely
    that was by the DUT's own distributions. `sustainable_pps` is what this DUT sustains at
    the loss ratio `limit`.
    """

    subject: str
    contestant: str
    seed: int
    limit: float
    sustainable_pps: float | None
    load_pps: float | None
    overhead_s: float
    failed_validations: int
    trials: int
    survived: bool
    survival: float

    def row(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)


def experience(subject: Subject, contestant: str, seed: int) -> Experience:
    """Run the search, and the soak."""
    contest = CONTESTANTS[contestant](subject.limit)
    bed = SimulatedBed(_settings(subject, seed), contest.goals)
    cut_short = contest.by_verdict and not subject.model.remembers
    elapsed_s = 0.0
    trials = failed = 0
    # By load, how long the last validation that passed took.
    passed: dict[float, float] = {}
    while isinstance(asked := contest.search.ask(), Ask):
        ran = bed.run(asked, cut_short=cut_short)
        contest.search.tell(ran.told)
        trials += 1
        elapsed_s += ran.elapsed_s
        if asked.phase == "validation":
            if ran.told.verdict() == "pass":
                passed[asked.load_pps] = ran.elapsed_s
            else:
                failed += 1
        if failed >= _MAX_VALIDATIONS or trials >= _MAX_TRIALS:
            break
    load_pps = asked.first.load_line_pps if isinstance(asked, Finished) else None
    return Experience(
        subject=subject.name,
        contestant=contestant,
        seed=seed,
        limit=subject.limit,
        sustainable_pps=subject.sustainable_pps,
        load_pps=load_pps,
        overhead_s=elapsed_s - (passed[load_pps] if load_pps is not None else 0.0),
        failed_validations=failed,
        trials=trials,
        survived=load_pps is not None and _survives(subject, load_pps, seed),
        survival=0.0 if load_pps is None else _survival(subject, load_pps),
    )


def _settings(subject: Subject, seed: int) -> SimulatedSettings:
    return SimulatedSettings.model_validate(
        {"kind": "simulated", "model": subject.model, "seed": seed}
    )


def _survival(subject: Subject, load_pps: float) -> float:
    return subject.model.survival_of_all(dict.fromkeys((0, 1), load_pps), subject.limit)


def _survives(subject: Subject, load_pps: float, seed: int) -> bool:
    """Invalid soaks are run again: the tester's faults are not the load's."""
    bed = SimulatedBed(
        _settings(subject, _SOAK_SEED + seed), {ONLY_GOAL: (LossRatio(at_most=subject.limit),)}
    )
    asked = Ask("validation", load_pps, VALIDATION_S, early_abort=False)
    for _ in range(20):
        verdict = bed.run(asked).told.verdict()
        if verdict != "invalid":
            return verdict == "pass"
    return False
