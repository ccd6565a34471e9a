"""What the running kernel was built with, as far as it or its files say."""

from __future__ import annotations

import gzip
import platform
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class KernelOption:
    """An option of the kernel's build: its name without CONFIG_, its module, what it brings."""

    name: str
    module: str
    brings: str

    def is_missing(self, root: Path = ROOT) -> bool:
        """Whether the kernel is known not to have it.

        False also where nothing tells (a container may show neither configuration nor modules):
        then trying it does.
        """
        if (root / "sys/module" / self.module).exists():
            return False
        built = _build_configuration(root)
        if built is None:
            return False
        line = f"CONFIG_{self.name}="
        setting = next((each for each in built.splitlines() if each.startswith(line)), line)
        if setting == f"{line}m":
            return not self._has_module(root)
        return setting != f"{line}y"

    def _has_module(self, root: Path) -> bool:
        """Whether the module's file is installed; it need not be loaded."""
        listed = root / "lib/modules" / platform.release() / "modules.dep"
        try:
            return f"/{self.module}.ko" in listed.read_text()
        except OSError:
            return False

    def __str__(self) -> str:
        return f"{self.brings} (CONFIG_{self.name})"


def _build_configuration(root: Path) -> str | None:
    """The kernel's own, or that installed with it."""
    try:
        return gzip.decompress((root / "proc/config.gz").read_bytes()).decode()
    except (OSError, EOFError):
        pass
    try:
        return (root / "boot" / f"config-{platform.release()}").read_text()
    except OSError:
        return None
