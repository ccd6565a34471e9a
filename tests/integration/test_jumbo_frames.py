"""Frames of 9216 bytes through the default lab: memif buffers and testpmd's mbufs fit them."""

import json

import pytest

from tests.integration.command import Workplace
from tests.integration.unspoilt import unspoilt


@pytest.mark.full
def test_long_frames_pass_testpmd_once_and_whole(place: Workplace) -> None:
    """The shortest that do not fit a usual mbuf, and the longest there are."""
    streams = [
        {"name": f"of-{size}", "role": "load", "frame_size": size, "flows": 64}
        for size in (2053, 9216)
    ]
    experiment = place.experiment(profile={"streams": streams})
    done = unspoilt(
        place,
        *("trial", experiment, "--load", "1kpps", "--duration", "1s", "--json"),
        *("--runs", place.runs),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    trial = json.loads(done.stdout)
    assert trial["verdict"] == "pass"
    assert len(trial["streams"]) == 4
    for counts in trial["streams"]:
        assert counts["sent"] + counts["skipped"] == 500
        assert counts["received"] == counts["sent"]
        assert (counts["duplicate"], counts["corrupt"]) == (0, 0)
