"""What an index of a matrix's job runs: its sample, and the record into the store.

`python -m plimsoll.methods.matrix.job_cell CELLS FOLDER RUN URL [ENDPOINT]`: CELLS is the mounted
config map, FOLDER a volume, RUN the id of the matrix run. It ends well where the record is in the
store, whatever the sample found: only a sample without a record is a failed index.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.cluster.pods.inside import placed
from plimsoll.errors import INTERNAL_FAULT, PlimsollError
from plimsoll.export.object_store import Bucket
from plimsoll.export.record_store import put_record
from plimsoll.host.entry.entry_point import enter
from plimsoll.host.processes.child import module_argv
from plimsoll.methods.matrix.jobs import CELLS_FILE
from plimsoll.record.run.run_directory import RunDirectory

# Which Kubernetes sets in each pod of an indexed job.
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"


def main(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run the sample and put its record there; the exit status."""
    cells, root, run_id, url, *endpoint = arguments
    listed = json.loads((Path(cells) / CELLS_FILE).read_text())
    cell = listed[int(environment[INDEX_VARIABLE])]
    folder = Path(root) / run_id / cell["folder"]
    try:
        experiment = placed(Path(cells) / cell["experiment"])
        # A matrix's plan makes its samples parts of it, in the store's names as well.
        run = RunDirectory.within(folder, experiment.normalised())
        bucket = Bucket.of(url, endpoint[0] if endpoint else None)
    except PlimsollError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    status = subprocess.run(  # noqa: S603 - an argument vector, no shell
        module_argv("plimsoll.cli", "run", "--resume", str(run.path)),
        stdin=subprocess.DEVNULL,
        check=False,
    ).returncode
    try:
        put_record(run, bucket, print)
    except PlimsollError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    print(f"plimsoll run ended with {status}")
    return 0 if run.result.is_file() else status or INTERNAL_FAULT


if __name__ == "__main__":
    # The first process of a container gets no signal that it has no handler for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    enter(lambda: main(sys.argv[1:]))
