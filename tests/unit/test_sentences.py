"""`make sentences` collects every sentence that a user can meet, once, by file or command."""

from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from plimsoll.cli.main import app
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.tune.audit.audit import all_checks
from tests.worded import held_file

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "build-aux/collect-sentences.py"


def loaded() -> Any:
    """The script as a module; its name has a hyphen, so it cannot be imported."""
    spec = spec_from_file_location("collect_sentences", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = loaded()


@pytest.fixture(scope="module")
def collected() -> dict[str, list[str]]:
    """The file's sentences, by heading."""
    groups = chain(
        script.commands(get_command(app), "plimsoll"),
        script.kinds(),
        script.schemas(),
        script.files(),
    )
    found: dict[str, list[str]] = {}
    sentences: list[str] = []
    for line in script.collected(groups):
        if line.startswith("== "):
            sentences = found.setdefault(line.strip("= "), [])
        elif line:
            sentences.append(line)
    return found


def has(sentences: list[str], text: str) -> bool:
    """Whether the text's first sentence is one of these, with or without a field's name."""
    first = next(script.sentences(text))
    return any(each == first or each.endswith(f": {first}") for each in sentences)


def test_an_options_help_is_below_its_command(collected: dict[str, list[str]]) -> None:
    command = get_command(app).get_command(None, "run")  # type: ignore[attr-defined,arg-type]
    option = next(each for each in command.params if each.name == "resume")
    assert has(collected["plimsoll run"], option.help)


def test_a_fields_description_is_below_its_schema(collected: dict[str, list[str]]) -> None:
    described = {name: field.description for name, field in TrialRecord.model_fields.items()}
    assert described["verdict"] is not None
    assert has(collected["result.schema.json"], described["verdict"])


def test_the_reason_of_every_check_is_collected(collected: dict[str, list[str]]) -> None:
    assert [each.name for each in all_checks() if not has(collected["tuning.md"], each.why)] == []


@pytest.mark.parametrize("subject", ["searches", "experiment-document"])
def test_an_errors_wording_is_collected(collected: dict[str, list[str]], subject: str) -> None:
    """The first wording in the file of a subject."""
    wording = next(iter(held_file.read(held_file.FOLDER / f"{subject}.txt").values()))
    assert collected[f"tests/wording/{subject}.txt"][0] in " ".join(wording.split())


def test_a_documents_heading_is_collected(collected: dict[str, list[str]]) -> None:
    lines = (ROOT / "docs/metrics.md").read_text().splitlines()
    heading = next(each for each in lines if each.startswith("## ") and each.count(" ") > 1)
    assert heading[3:] in collected["docs/metrics.md"]


def test_no_sentence_is_collected_twice(collected: dict[str, list[str]]) -> None:
    everything = [script.twin(each) for each in chain.from_iterable(collected.values())]
    assert len(everything) > 1000
    assert len(set(everything)) == len(everything)


def test_a_repeated_sentence_is_kept_in_its_first_place() -> None:
    groups = [
        ("a", ["Two words.", "Takes 5 s."]),
        ("b", ["x: two words."]),
        ("c", ["Takes 6 s. More of it."]),
    ]
    assert list(script.collected(groups)) == [
        *("", "== a ==", "", "Two words.", "Takes 5 s."),
        *("", "== c ==", "", "More of it."),
    ]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("<h2>Two words</h2><p>One <b>more</b></p>", ["Two words", "One more"]),
        ("<p>{{ count }} of them{# no one sees this #}</p>", ["… of them"]),
        ("<script>var one_two = 'three four five'</script>", []),
        ('<a aria-label="Read out loud" href="not read">x</a>', ["Read out loud", "x"]),
        ('{{ parts.figure("Of three words", "key word") }}', ["Of three words", "…"]),
    ],
)
def test_of_a_template_the_words_are_taken_without_markup(
    template: str, expected: list[str]
) -> None:
    assert [each for each in script.page_words(template) if each.strip()] == expected


def test_of_javascript_its_literals_are_taken() -> None:
    source = "// no one reads this comment\nsay(`in ${n} s it ends`, 'one-word', \"but two\");\n"
    assert list(script.literals(source)) == ["in … s it ends"]


def test_of_a_document_headings_first_paragraphs_and_cells_are_taken() -> None:
    prose = "# Title here\n\nFirst [said](x.md).\n\nSecond.\n\n"
    markdown = f"{prose}| a | b c |\n|---|---|\n\n```\n# code\n```\n"
    taken = chain.from_iterable(script.sentences(each) for each in script.document_parts(markdown))
    assert list(taken) == ["Title here", "First said.", "b c"]
