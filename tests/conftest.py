"""For all tests: none depends on how fast the machine is, and no example of Hypothesis does."""

from hypothesis import HealthCheck, settings

settings.register_profile("plimsoll", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("plimsoll")
