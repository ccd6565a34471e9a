"""A run as an archive, for another machine and for another company."""

import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from plimsoll.record.run.environment import Environment
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.record.index.run_dirs import make_matrix, make_run, make_stopped
from tests.unit.report import sample_run
from tests.worded.says import Says, passage

ROOT = Path("runs")
HOST = "telco-lab-07.operator.example"
USER = "alicetester"
MAC = "86:cd:e8:2e:12:70"
ADDRESS = "10.20.30.40"
SERIAL = "CZJ1234567"
REDACTED = ("export", "last", "--format", "bundle", "--redact", "-o", "r.tar.gz")
SECRETS = (HOST, "telco-lab-07", USER, MAC, ADDRESS, SERIAL, "/home/", "customer-x")


@pytest.fixture
def named_run(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that says in many places whose it is."""
    environment = sample_run.environment

    def of_host(*given: object) -> Environment:
        found: Environment = environment(*given)  # type: ignore[arg-type]
        return found.model_copy(
            update={
                "host": HOST,
                "cmdline": f"root=UUID=0f8fad5b-d9cb-469f-a165-70867728950e ip={ADDRESS}",
                "kernel_version": f"#1 SMP ({USER}@buildhost-3)",
                "versions": {**found.versions, "engine": f"/home/{USER}/engine"},
            }
        )

    monkeypatch.setattr(sample_run, "environment", of_host)
    experiment = {
        **sample_run.EXPERIMENT,
        "lab": {"kind": "external", "mac": MAC, "serial_number": SERIAL},
        "observe": {"hosts": [{"ssh": f"{USER}@dut-9.operator.example"}]},
        "file": f"/home/{USER}/customer-x/profile.yaml",
    }
    monkeypatch.setattr(sample_run, "EXPERIMENT", experiment)
    run = sample_run.write_sample_run(ROOT, name="nightly-telco-lab-07")
    for words in (("tag", "last", f"owner={USER}"), ("note", "last", f"{SERIAL} of customer-x")):
        assert plimsoll("runs", *words) == 0, plimsoll.err
    return run.path


@pytest.fixture(scope="module")
def redactions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `redacted` keeps what it made."""
    return tmp_path_factory.mktemp("redactions")


@pytest.fixture
def redacted(plimsoll: Plimsoll, named_run: Path, redactions: Path) -> Path:
    """The named run as it was imported elsewhere; made once, as it is the same each time."""
    kept = redactions / named_run.name
    if not kept.is_dir():
        assert plimsoll(*REDACTED) == 0, plimsoll.err
        assert plimsoll("import", "bundle", "r.tar.gz", "--runs", "other") == 0
        (copy,) = Path("other").iterdir()
        shutil.copytree(copy, kept / copy.name)
    shutil.copytree(kept, "other", dirs_exist_ok=True)
    (copy,) = Path("other").iterdir()
    return copy


def contents(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file's name and text; of Parquet every value of every row, as DuckDB prints it."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            rows = duckdb.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
            yield path.name, "\n".join(map(repr, rows))
        if path.is_file():
            yield path.name, path.read_bytes().decode("latin-1")
        yield path.name, str(path.relative_to(folder))


def test_a_bundle_makes_the_same_run_elsewhere(plimsoll: Plimsoll, named_run: Path) -> None:
    assert plimsoll("export", "last", "--format", "bundle") == 0, plimsoll.err
    archive = Path(plimsoll.out.strip())
    assert archive.name == f"{named_run.name}.plimsoll.tar.gz"
    assert plimsoll("import", archive, "--runs", "elsewhere") == 0, plimsoll.err
    assert plimsoll("runs", "check", "--runs", "elsewhere") == 0
    copy = Path("elsewhere") / named_run.name
    assert (copy / "report.html").is_file()
    assert (copy / "journal.jsonl").read_bytes() == (named_run / "journal.jsonl").read_bytes()


def test_a_redacted_bundle_has_none_of_the_names_and_opens_with_every_command(
    plimsoll: Plimsoll, named_run: Path
) -> None:
    assert plimsoll(*REDACTED, "--word", "customer-x") == 0, plimsoll.err
    assert "replaced:" in plimsoll.err
    assert plimsoll("import", "bundle", "r.tar.gz", "--runs", "other") == 0, plimsoll.err
    assert "stand-ins" in plimsoll.err
    (copy,) = Path("other").iterdir()
    found = [(n, s) for n, text in contents(copy) for s in SECRETS if s.lower() in text.lower()]
    assert found == []
    with tarfile.open("r.tar.gz") as archive:
        names = archive.getnames()
    assert not [name for name in names if "telco" in name]
    for command in (
        ("runs", "check"),
        ("runs", "show", "last"),
        ("report", "last", "--no-charts"),
        ("report", "last", "--format", "junit", "--fail-if", "load_line < 2.7Mpps"),
        ("metrics", "list", "--run", "last"),
        ("metrics", "get", "--run", "last", "--source", "trafficgen", "--type", "rx-pps"),
        ("export", "last", "--format", "csv"),
    ):
        assert plimsoll(*command, "--runs", "other") == 0, (command, plimsoll.err)
    assert plimsoll("compare", str(named_run), str(copy)) == 0, plimsoll.err


def test_figures_are_the_same_in_the_redacted_run(
    plimsoll: Plimsoll, named_run: Path, redacted: Path
) -> None:
    get = ("metrics", "get", "--source", "trafficgen", "--type", "rx-pps", "--output", "json")
    assert plimsoll(*get, "--run", "last") == 0
    before = json.loads(plimsoll.out)
    assert plimsoll(*get, "--run", "last", "--runs", "other") == 0
    after = json.loads(plimsoll.out)
    assert json.dumps(after).count("value") == json.dumps(before).count("value") > 0
    result = json.loads((redacted / "result.json").read_text())
    original = json.loads((named_run / "result.json").read_text())
    assert result["load_line"] == original["load_line"]
    assert result["validation"] == original["validation"]


def test_stand_ins_are_consistent(redacted: Path, says: Says) -> None:
    host = json.loads((redacted / "environment.json").read_text())["host"]
    assert host.startswith("host-")
    assert host in (redacted / "report.html").read_text()
    user = json.loads((redacted / "notes.json").read_text())["tags"]["owner"]
    assert passage((redacted / "experiment.yaml").read_text(), "ssh", f"{user}@host-") == says()


def test_a_run_that_was_cut_short_can_be_bundled(plimsoll: Plimsoll) -> None:
    make_stopped(ROOT)
    assert plimsoll(*REDACTED) == 0, plimsoll.err
    assert plimsoll("import", "bundle", "r.tar.gz", "--runs", "other") == 0
    assert plimsoll("runs", "--runs", "other") == 0
    assert "stopped" in plimsoll.out


def test_a_damaged_run_is_not_bundled(plimsoll: Plimsoll) -> None:
    run = make_run(ROOT)
    (run / "result.json").write_text("{}")
    assert plimsoll("export", run.name, "--format", "bundle") == 4
    assert "result.json" in plimsoll.err
    assert not list(Path().glob("*.tar.gz"))


def test_what_is_there_is_kept(plimsoll: Plimsoll) -> None:
    make_run(ROOT)
    Path("x.tar.gz").write_text("mine")
    assert plimsoll("export", "last", "--format", "bundle", "-o", "x.tar.gz") == 2
    assert Path("x.tar.gz").read_text() == "mine"
    assert plimsoll("export", "last", "--format", "bundle", "-o", "x.tar.gz", "--force") == 0
    assert plimsoll("export", "last", "--format", "bundle", "--word", "abc") == 2
    assert "is for --redact" in plimsoll.err


def test_a_file_that_is_not_there_is_an_error_of_its_own(plimsoll: Plimsoll) -> None:
    assert plimsoll("import", "absent.tar.gz") == 2
    assert "absent.tar.gz" in plimsoll.err
    assert plimsoll("import", "trafficgem") == 2
    assert "trafficgen" in plimsoll.err


def test_a_matrix_run_is_bundled_with_all_its_parts(plimsoll: Plimsoll) -> None:
    run = make_matrix(ROOT)
    assert plimsoll("export", run.name, "--format", "bundle", "-o", "m.tar.gz") == 0, plimsoll.err
    assert plimsoll("import", "m.tar.gz", "--runs", "other") == 0, plimsoll.err
    samples = sorted(path.name for path in (Path("other") / run.name).glob("iteration-0001/*"))
    assert samples == ["experiment.yaml", "sample-1", "sample-2"]
    assert plimsoll("runs", "check", "--runs", "other") == 0
