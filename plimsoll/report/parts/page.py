"""A page of the report: one self-contained file that a browser opens without a network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import vl_convert
from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.whole_file import write_whole
from plimsoll.report.figures.figure import DARK, LIGHT, Figure
from plimsoll.report.figures.table import ReportTable, tables_in
from plimsoll.report.parts.finding_lines import findings_table, rule_words
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.run_head import RunHead, RunsHead
from plimsoll.report.parts.trial_details import TrialDetail
from plimsoll.text.plain_text import without_controls
from plimsoll.version import VERSION

_EXPORT = "window.vegaEmbed = vegaEmbed;"
# RuntimeError is Path.home()'s.
_NO_FILE = (OSError, RecordError, RuntimeError, UnicodeDecodeError)


def packaged(name: str) -> str:
    """The text of a style sheet or script of the report's, such as draw.js."""
    return (files("plimsoll.report") / "templates" / name).read_text(encoding="utf-8")


def drawings(figures: Iterable[Figure], options: Mapping[str, object] | None = None) -> Markup:
    """The charts as draw.js reads them; `options` are vega-embed's, in addition to its own."""
    charts = {figure.name: figure.specification() for figure in figures}
    found = {"charts": charts, "light": LIGHT, "dark": DARK}
    return inert_json(found if options is None else {**found, "options": options})


def harmless(value: object) -> object:
    """What a template puts in: text of a run may be anybody's, and end up on a terminal."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return without_controls(value)
    return value


def inert_json(value: object) -> Markup:
    """JSON that no HTML parser takes for markup, whatever names a profile gives its streams."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704


# The charts' library, Vega and what belongs to it, bundled once for all commands of a user.
@cache
def chart_library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, as vl-convert carries them.

    Bundling takes it two seconds of CPU time (1.9.0), so the script is kept for the commands
    to come. Where it cannot be, as for a user without a home, each command bundles it anew.
    """
    with suppress(*_NO_FILE):
        return _read_own(chart_library_file())
    library: str = vl_convert.javascript_bundle(_EXPORT)
    with suppress(*_NO_FILE):
        _keep(chart_library_file(), library)
    return library


def chart_library_file() -> Path:
    """Where it is kept: in `plimsoll` under $XDG_CACHE_HOME, else under ~/.cache."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG base directory specification: a path that is not absolute is to be ignored.
    root = Path(chosen) if Path(chosen).is_absolute() else Path.home() / ".cache"
    return root / "plimsoll" / f"charts-{version('vl-convert-python')}.js"


def _keep(path: Path, library: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, library)
    # Whatever the umask gave to others.
    path.chmod(0o600)


def _read_own(path: Path) -> str:
    """A script that reports will run: of this user's own making, or OSError."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o022:
            raise PermissionError(f"{path} can be written to by others")
        if status.st_uid != os.geteuid() or not status.st_size:
            raise PermissionError(f"{path} is not of this user's making")
        return file.read()


@dataclass(frozen=True, slots=True)
class Page:
    """What one kind of run shows, or what many runs do.

    `template` extends base.html.j2 and fills its blocks, whose order is the same on all pages,
    from `content` and `figures`. `contents` are the anchors and titles of these blocks.
    `key_figures` names up to three of the figures that stand in the first screen. `trials` is
    the table of all trials, `details` what each unfolds to.
    """

    template: str
    headline: Headline
    contents: tuple[tuple[str, str], ...]
    figures: tuple[Figure, ...]
    content: Mapping[str, object]
    key_figures: tuple[str, ...] = ()
    trials: ReportTable | None = None
    details: tuple[TrialDetail, ...] = ()

    @property
    def drawn(self) -> tuple[Figure, ...]:
        """All figures, those of each trial too."""
        return (*self.figures, *(each for detail in self.details for each in detail.figures))

    @property
    def criteria(self) -> ReportTable:
        """Those of the headline."""
        return findings_table(self.headline.criteria, "answer-criteria", "Criterion")

    @property
    def tables(self) -> tuple[ReportTable, ...]:
        """All that have rows, once each."""
        parts = (self.criteria, self.content, self.trials, self.details)
        return tuple({id(each): each for each in tables_in(parts)}.values())


def render_page(head: RunHead | RunsHead, page: Page) -> str:
    """The whole page. It may load nothing and evaluate nothing: its policy forbids both."""
    library, drawing = chart_library(), packaged("draw.js")
    return (
        _templates()
        .get_template(page.template)
        .render(
            page.content,
            head=head,
            page=page,
            figures={figure.name: figure for figure in page.figures},
            version=VERSION,
            style=Markup(packaged("report.css")),  # noqa: S704
            library=Markup(_compressed(library)),  # noqa: S704
            drawing=Markup(drawing),  # noqa: S704
            policy=_policy((library, drawing)),
            drawings=drawings(page.drawn),
        )
    )


@cache
def _templates() -> Templates:
    """One environment, which keeps what it has compiled."""
    templates = Templates(
        loader=PackageLoader("plimsoll.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
    )
    templates.filters["rule_words"] = rule_words
    return templates


@cache
def _compressed(script: str) -> str:
    """A third of its size, for a page to unpack (DecompressionStream, in browsers since 2023)."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()


def _policy(scripts: tuple[str, ...]) -> str:
    """A content security policy: these scripts and no others, and no request to anywhere."""
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{value}'" for value in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    )
