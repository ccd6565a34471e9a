"""A disk that is full, as the system itself says it."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most_4_kib_a_file() -> Iterator[None]:
    """For the length of a `with`, in which the test runner itself must write nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
