"""The run that the tests of reports share."""

from tests.unit.report.conftest import cut_short, finished, finished_run

__all__ = ["cut_short", "finished", "finished_run"]
