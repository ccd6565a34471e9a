"""`plimsoll init` on this very machine: what it writes is run as it is."""

import json

from tests.integration.command import Workplace


def test_what_is_written_is_run_as_it_is(place: Workplace) -> None:
    written = place.folder / "written.yaml"
    assert place.run("init", "-o", written).returncode == 0
    done = place.run(
        *("trial", written, "--load", "10kpps", "--duration", "1s", "--json"),
        *("--runs", place.runs),
    )
    trial = json.loads(done.stdout)
    # Whether the machine is quiet enough to pass is another matter.
    assert {stream["name"] for stream in trial["streams"]} == {"load/0-1", "load/1-0", "probe/0-1"}
    assert all(stream["received"] for stream in trial["streams"])
