"""Runs of simulated DUTs, two of each release, with what a host's observer would have seen."""

from pathlib import Path

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.record.index.run_notes import change_notes
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.samples.metric_type import MetricSample, MetricType
from tests.unit.methods.soak.soak_runs import Silent
from tests.unit.record.relisting import relist

BUSY = MetricType("mpstat", "Busy-CPU", "count", "CPUs", "sum")
# CPU 5 forwards, CPU 0 does the rest.
SHARES = {("5", "usr"): 0.75, ("5", "sys"): 0.05, ("0", "usr"): 0.1}


def experiment(capacity: str, seed: int) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "demo",
            "lab": {
                "kind": "simulated",
                "seed": seed,
                "model": {"kind": "fixed-capacity", "capacity": capacity},
            },
            "profile": {
                "streams": [
                    {"name": "load", "role": "load"},
                    {"name": "probe", "role": "latency", "rate": "1000pps", "taken_from": "load"},
                ]
            },
            "trial": {"warmup": None},
            "search": {
                "strategy": "binary",
                "minimum": "200kpps",
                "maximum": "1.5Mpps",
                "granularity": "10%",
                "duration": "1s",
                "validation": {"duration": "12s"},
            },
        }
    )


def write_releases(runs: Path) -> None:
    for release, capacity in (("1.0", "1Mpps"), ("1.1", "0.8Mpps")):
        for seed in (1, 2):
            made = experiment(capacity, seed)
            run = RunDirectory.create(runs, made.name, made.normalised())
            find_load_line(made, run, Silent())
            change_notes(run, lambda notes, r=release: notes.tagged({"release": r}))
            _observe(run)


def _observe(run: RunDirectory) -> None:
    """A host's CPUs in the validation, which is the last trial."""
    proof = read_journal(run.journal).trials()[-1]
    period = trial_period(proof.number)
    log = MetricLog(period, 0)
    with MetricsWriter(run, period, "sut") as writer:
        for second in range(12):
            samples = [
                MetricSample(BUSY, {"hostname": "sut", "num": num, "type": kind}, share)
                for (num, kind), share in SHARES.items()
            ]
            begin_ns = proof.begin_unix_ns + second * 10**9
            writer.append(log.samples(samples, begin_ns, begin_ns + 10**9))
        writer.finish()
    relist(run)
