from collections.abc import Callable
from functools import cache

import pytest

from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.charts import drawn_types
from plimsoll.report.data.run_data import RunData, load_run
from tests.unit.report.sample_run import STEPS, write_sample_run


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return write_sample_run(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def finished(finished_run: RunDirectory) -> RunData:
    return load_run(finished_run, drawn_types())


@pytest.fixture(scope="session")
def cut_short(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], RunData]:
    """The data of a run of which so many trials ended, and no more."""

    @cache
    def write(trials: int) -> RunData:
        runs = tmp_path_factory.mktemp("runs")
        return load_run(write_sample_run(runs, steps=STEPS[:trials], finished=False), drawn_types())

    return write
