"""The engine's folders are layers too: its `#include` lines point downwards."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "engine"
SOURCE = ENGINE / "src"
# From the top down; a layer may include itself and those after it.
LAYERS = ["antagonist", "control", "trial", "ports", "dataplane", "config"]
# The rooms of each layer, from the top down, with "." for the files of the folder itself.
ROOMS = {
    "control": [".", "messages", "requests"],
    "trial": [".", "clocks"],
    "dataplane": ["loop", "frames", "schedule", "time", "measures", "."],
}
# Entries of a folder, beyond which no one finds anything.
MAX_ENTRIES = 24
# Made by the build, of the version alone.
GENERATED = {"version.h"}
# What only some layers may know: who reads and writes JSON, and who needs no DPDK at all.
JSON_LAYERS = {"control"}
LAYERS_WITHOUT_DPDK = {"config"}

QUOTED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
BRACKETED = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.MULTILINE)
FILES = sorted([*SOURCE.rglob("*.c"), *SOURCE.rglob("*.h")])
TEXTS = {file.relative_to(SOURCE).as_posix(): file.read_text() for file in FILES}
# The page that follows a frame through these files.
PAGE = (ROOT / "docs/engine.md").read_text()


def own_includes(text: str) -> list[str]:
    """Headers of the engine that a file includes, as paths below engine/src."""
    return [name for name in QUOTED.findall(text) if name not in GENERATED]


def room_of(path: str, house: str) -> str:
    """The room of `house` in which a file lies whose path begins with it."""
    parts = Path(path).relative_to(house).parts
    return parts[0] if len(parts) > 1 else "."


def layer_arrows_up(path: str, text: str) -> list[str]:
    """What the file `path` (below engine/src) includes from layers above its own."""
    below = LAYERS[LAYERS.index(Path(path).parts[0]) :]
    return [name for name in own_includes(text) if Path(name).parts[0] not in below]


def room_arrows_up(path: str, text: str, house: str) -> list[str]:
    """What the file `path`, which lies in `house`, includes from rooms above its own."""
    rooms = ROOMS[house]
    below = rooms[rooms.index(room_of(path, house)) :]
    inside = [name for name in own_includes(text) if Path(name).parts[0] == house]
    return [name for name in inside if room_of(name, house) not in below]


def amiss(found: Iterator[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """What was found in files, without those in which nothing was."""
    return {path: names for path, names in found if names}


def test_includes_point_downwards() -> None:
    assert amiss((path, layer_arrows_up(path, text)) for path, text in TEXTS.items()) == {}
    houses = ((path, text, Path(path).parts[0]) for path, text in TEXTS.items())
    assert (
        amiss(
            (path, room_arrows_up(path, text, house))
            for path, text, house in houses
            if house in ROOMS
        )
        == {}
    )


def test_includes_are_written_from_the_root_on() -> None:
    """A path relative to the including file would pass the order by."""
    missing = amiss(
        (path, [name for name in own_includes(text) if not (SOURCE / name).is_file()])
        for path, text in TEXTS.items()
    )
    assert missing == {}


def test_layers_know_the_libraries_that_are_theirs() -> None:
    libraries = {path: BRACKETED.findall(text) for path, text in TEXTS.items()}
    of_json = {Path(path).parts[0] for path, names in libraries.items() if "jansson.h" in names}
    assert of_json <= JSON_LAYERS
    of_dpdk = {
        Path(path).parts[0]
        for path, names in libraries.items()
        if any(name.startswith("rte_") for name in names)
    }
    assert of_dpdk.isdisjoint(LAYERS_WITHOUT_DPDK)


def test_each_folder_has_its_place_in_the_order() -> None:
    folders = {file.parent.relative_to(SOURCE).as_posix() for file in FILES}
    rooms = {
        house if room == "." else f"{house}/{room}"
        for house in LAYERS
        for room in ROOMS.get(house, ["."])
    }
    assert folders == rooms


def test_no_folder_is_too_full() -> None:
    folders = [ENGINE, *(path for path in ENGINE.rglob("*") if path.is_dir())]
    counts = {
        folder.relative_to(ROOT).as_posix(): sum(
            not each.name.startswith("_") for each in folder.iterdir()
        )
        for folder in folders
        if folder.name != "__pycache__"
    }
    assert {name: count for name, count in counts.items() if count > MAX_ENTRIES} == {}


def test_the_page_about_the_engine_cites_files_that_are_there() -> None:
    cited = sorted(set(re.findall(r"\w+(?:/\w+)+\.[ch]\b", PAGE)))
    folders = (ROOT, SOURCE, SOURCE / "dataplane")
    assert len(cited) > 10
    assert [
        path for path in cited if not any((folder / path).is_file() for folder in folders)
    ] == []


def test_the_page_about_the_engine_names_functions_that_are_called() -> None:
    named = sorted(set(re.findall(r"(\w+)\(\)", PAGE)))
    source = "\n".join(TEXTS.values())
    assert len(named) > 10
    assert [function for function in named if f"{function}(" not in source] == []


@pytest.mark.parametrize(
    ("path", "include", "expected"),
    [
        ("dataplane/loop/run.h", "config/limits.h", []),
        ("dataplane/loop/receive.c", "ports/ports.h", ["ports/ports.h"]),
        ("ports/eal.c", "dataplane/loop/driver_memory.h", []),
        ("config/fields.h", "dataplane/splitmix.h", ["dataplane/splitmix.h"]),
        ("control/main.c", "version.h", []),
        ("trial/trial.h", "control/messages/message.h", ["control/messages/message.h"]),
    ],
)
def test_arrows_between_layers_are_found(path: str, include: str, expected: list[str]) -> None:
    text = f'#include <stdint.h>\n\n#include "{include}"\n'
    assert layer_arrows_up(path, text) == expected


@pytest.mark.parametrize(
    ("path", "include", "expected"),
    [
        ("dataplane/loop/run.h", "dataplane/measures/histogram.h", []),
        ("dataplane/loop/run.h", "dataplane/splitmix.h", []),
        ("dataplane/time/stall.c", "dataplane/loop/run.h", ["dataplane/loop/run.h"]),
        ("dataplane/splitmix.h", "dataplane/loop/run.h", ["dataplane/loop/run.h"]),
        ("dataplane/time/stall.c", "dataplane/time/stall.h", []),
        ("dataplane/time/stall.c", "config/limits.h", []),
    ],
)
def test_arrows_between_rooms_are_found(path: str, include: str, expected: list[str]) -> None:
    assert room_arrows_up(path, f'#include "{include}"\n', "dataplane") == expected
