"""For all tests: none depends on how fast the machine is, and no example of Hypothesis does."""

from hypothesis import settings

settings.register_profile("plimsoll", deadline=None)
settings.load_profile("plimsoll")
