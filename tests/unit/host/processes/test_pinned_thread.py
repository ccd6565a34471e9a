"""The thread of a process that is pinned to a CPU, by this process's own threads."""

import os
import threading
from pathlib import Path

from plimsoll.host.cpus import allowed_cpus
from plimsoll.host.processes.affinity import pinned_thread

CPU = min(allowed_cpus())


def test_it_is_found_by_its_cpu_and_its_name() -> None:
    ready, end = threading.Event(), threading.Event()
    ids: list[int] = []

    def wait() -> None:
        thread = threading.get_native_id()
        os.sched_setaffinity(thread, {CPU})
        Path(f"/proc/self/task/{thread}/comm").write_text("dpdk-worker1")
        ids.append(thread)
        ready.set()
        end.wait()

    waiting = threading.Thread(target=wait)
    waiting.start()
    try:
        ready.wait()
        assert pinned_thread(os.getpid(), CPU, "worker") == ids[0]
        assert pinned_thread(os.getpid(), CPU, "other name") is None
        assert pinned_thread(os.getpid(), 8000, "worker") is None
    finally:
        end.set()
        waiting.join()


def test_a_process_that_ended_has_none() -> None:
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    assert pinned_thread(gone, CPU, "worker") is None
