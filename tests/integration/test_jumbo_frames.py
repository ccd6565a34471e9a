"""Frames of 9216 bytes through the default lab: memif buffers and testpmd's mbufs fit them."""

import json

import pytest

from tests.integration.command import Workplace


@pytest.mark.parametrize("frame_size", [2053, 9216])
def test_long_frames_pass_testpmd_once_and_whole(place: Workplace, frame_size: int) -> None:
    stream = {"name": "load", "role": "load", "frame_size": frame_size, "flows": 64}
    experiment = place.experiment(profile={"streams": [stream]})
    done = place.run(
        *("trial", experiment, "--load", "1kpps", "--duration", "1s", "--json"),
        *("--runs", place.runs),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    trial = json.loads(done.stdout)
    assert trial["verdict"] == "pass"
    for counts in trial["streams"]:
        assert counts["sent"] == counts["received"] == 1000
        assert (counts["duplicate"], counts["corrupt"]) == (0, 0)
