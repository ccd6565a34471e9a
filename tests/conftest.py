"""For all tests: none depends on how fast the machine is, nor on who started it."""

import signal

# First: for each of its classes it looks through all modules that are loaded, later thousands.
import MLRsearch  # noqa: F401
from hypothesis import HealthCheck, settings

# The same examples each time: what passes here passes elsewhere. `make properties` draws others.
settings.register_profile(
    "plimsoll", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "drawn", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("plimsoll")

# A shell has its background jobs ignore SIGINT, nohup has them ignore SIGHUP, and programs
# that a test starts and then interrupts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
