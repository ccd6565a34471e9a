"""`driver.py` in front of a real TRex, as it was recorded: the same answers to the same requests.

    replayed_trex.py RECORDING

Each line of the recording is a request and what was answered. Another request than the next
one of the recording is refused, so that what a real TRex never accepted is not sent unnoticed.
Times are by the clock of this machine, as it was another that was recorded.
"""

import json
import sys
import time
from pathlib import Path


def main() -> None:
    recorded = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    for line, exchange in zip(sys.stdin, recorded, strict=False):
        request, answer = json.loads(line), exchange["answer"]
        if request != exchange["request"]:
            answer = {"ok": False, "error": f"recorded was {exchange['request']}, not {request}"}
        if "at_s" in answer:
            answer["at_s"] = time.monotonic()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
