"""Boots every guest and keeps its capture for tests without QEMU: `make vm-captures`.

Needed when a check reads something that the captures do not have yet.
"""

import sys
import tempfile
from pathlib import Path

from plimsoll.tune.host.capture.capture import write_capture
from tests.integration.vm.guest import CannotBoot, boot, find_parts
from tests.unit.tune.captures.systems import SYSTEMS


def main() -> int:
    """Replaces the captures, one by one; 1 where guests cannot be booted here."""
    try:
        parts = find_parts()
    except CannotBoot as missing:
        print(missing, file=sys.stderr)
        return 1
    for system in SYSTEMS:
        with tempfile.TemporaryDirectory() as folder:
            capture = boot(parts, system, Path(folder))
        system.capture.unlink(missing_ok=True)
        write_capture(capture, system.capture)
        system.capture.chmod(0o644)
        print(f"{system.capture}: {system.capture.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
