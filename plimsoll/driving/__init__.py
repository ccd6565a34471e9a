"""The Python API that sends: `plimsoll.traffic`, `trial`, `search` and `lab`."""
