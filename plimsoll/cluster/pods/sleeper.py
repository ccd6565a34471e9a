"""Keeps a pod's volume mounted until the pod is removed: it only waits to be ended."""

from __future__ import annotations

import signal

if __name__ == "__main__":
    # The first process of a container gets no signal that it does not wait for.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    signal.sigwait({signal.SIGTERM})
