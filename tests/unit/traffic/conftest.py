"""No deadlines: the first frame that a test builds loads Scapy."""

from hypothesis import settings

settings.register_profile("frames", deadline=None)
settings.load_profile("frames")
