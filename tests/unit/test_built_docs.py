"""`make docs` builds, and what its pages lead to is there."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.tune.audit.audit import all_checks
from plimsoll.tune.cluster.cluster_audit import all_cluster_checks
from tests.unit.record.published import PUBLISHED

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "docs"
    subprocess.run([sys.executable, "build-aux/build-docs.py", folder], cwd=ROOT, check=True)
    return folder


def test_what_is_made_of_the_code_is_in_it(built: Path) -> None:
    schemas = {path.name.removesuffix(".schema.json") for path in (built / "schemas").iterdir()}
    assert schemas == set(PUBLISHED)
    assert f"\n### {all_checks()[-1].number} " in (built / "tuning.md").read_text()
    assert f"\n### {all_cluster_checks()[-1].number} " in (built / "tuning-cluster.md").read_text()


def links(page: Path) -> Iterator[str]:
    """Those to files."""
    for link in LINK.findall(CODE.sub("", page.read_text())):
        if not re.match(r"[a-z]+:", link):
            yield link


def test_every_link_leads_to_a_file(built: Path) -> None:
    dead = [
        f"{page.relative_to(built)}: {link}"
        for page in sorted(built.rglob("*.md"))
        for link in links(page)
        if not (page.parent / link).exists()
        # Of the sources, which a built page does not lie among.
        and not (ROOT / "docs" / page.parent.relative_to(built) / link).exists()
    ]
    assert dead == []


def test_every_link_of_the_sources_own_pages_leads_to_a_file() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    dead = [f"{p.name}: {link}" for p in pages for link in links(p) if not (ROOT / link).exists()]
    assert dead == []
