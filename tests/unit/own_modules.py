"""The modules of the package, each once, by the path that it is imported by."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "plimsoll"
# A link to the library's source, which a walk through the folder does not follow.
SEARCH = PACKAGE / "search"
OWN_MODULES = sorted([*PACKAGE.rglob("*.py"), *SEARCH.rglob("*.py")])
