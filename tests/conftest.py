"""For all tests: none depends on how fast the machine is, nor on who started it."""

import gc
import os
import signal
import time

# First: for each of its classes it looks through all modules that are loaded, later thousands.
import MLRsearch  # noqa: F401
from hypothesis import HealthCheck, settings

from tests.environment import plain

pytest_plugins = ["tests.tried_again", "tests.worded.plugin"]

# The same examples each time: what passes here passes elsewhere. Drawn once for all, 30 of them
# prove what 100 do; `make properties` draws others, and as many as hypothesis does by default.
settings.register_profile(
    "plimsoll",
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "drawn", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("plimsoll")

own = plain(os.environ)
os.environ.clear()
os.environ.update(own)
time.tzset()

# A shell has its background jobs ignore SIGINT, nohup has them ignore SIGHUP, and programs
# that a test starts and then interrupts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Have the collector leave alone what is there for good: modules, models, thousands of items.

    Of what comes it need not look at every 700 objects.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)


def pytest_unconfigure() -> None:
    """Have nanobind find at the end of the process that nothing of DuckDB's is referred to."""
    gc.unfreeze()
