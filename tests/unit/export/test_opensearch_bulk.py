"""Loading by the bulk protocol, against a server on loopback that checks its grammar."""

import json
import socket
from collections.abc import Iterator

import pytest

from plimsoll.errors import InputError
from plimsoll.export.cdm.document import CdmDocument, CdmVersion
from plimsoll.export.cdm.documents import RunDocuments
from plimsoll.export.cdm.run_iterations import outline_of
from plimsoll.export.opensearch import bulk
from plimsoll.export.opensearch.bulk import load
from plimsoll.export.opensearch.server import RetryPolicy, Server
from plimsoll.export.output_file import ExportError
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.export.loopback_opensearch import Outcome, Store, serving
from tests.worded.says import Says


@pytest.fixture
def store() -> Iterator[Store]:
    with serving() as served:
        yield served


class Waits:
    """Patience that does not wait, but says how long it would have."""

    def __init__(self, attempts: int = 4) -> None:
        self.seconds: list[float] = []
        self.said: list[str] = []
        self.patience = RetryPolicy(
            attempts=attempts, sleep=self.seconds.append, notice=self.said.append
        )


def some(count: int) -> list[CdmDocument]:
    return [
        CdmDocument("tag", "cdmv8dev-tag", f"id-{n}", json.dumps({"n": n})) for n in range(count)
    ]


def sent(store: Store) -> dict[tuple[str, str], int]:
    return {key: document["n"] for key, document in store.documents.items()}


ALL_FIVE = {("cdmv8dev-tag", f"id-{n}"): n for n in range(5)}


def test_a_whole_run_arrives_and_again_changes_nothing(run: RunDirectory, store: Store) -> None:
    made = list(RunDocuments(run, outline_of(run), CdmVersion.V8))
    loaded = load(Server(store.url), iter(made), Waits().patience)
    assert (loaded.taken, loaded.failed) == (len(made), 0)
    first = dict(store.documents)
    assert first == {(each.index, each.id): json.loads(each.json) for each in made}
    load(Server(store.url), iter(made), Waits().patience)
    assert store.documents == first


def test_documents_go_in_batches_and_progress_is_reported(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_DOCUMENTS", 2)
    counts: list[int] = []
    load(Server(store.url), some(5), Waits().patience, counts.append)
    assert counts == [2, 4, 5]
    assert len(store.bulk_requests) == 3
    assert sent(store) == ALL_FIVE


def test_a_batch_has_no_more_bytes_than_it_should(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_BYTES", 10)
    load(Server(store.url), some(5), Waits().patience)
    # {"n": 0} is 8 bytes: two of them.
    assert [request.body.count(b"\n") for request in store.bulk_requests] == [4, 4, 2]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_tried_again_later_and_later(
    store: Store, status: int, says: Says
) -> None:
    store.troubles = [(status, {})] * 3
    waits = Waits()
    assert load(Server(store.url), some(5), waits.patience).taken == 5
    assert waits.seconds == [0.5, 1.0, 2.0]
    assert waits.said[0] == says("HTTP", str(status), "0.5")
    assert sent(store) == ALL_FIVE


def test_the_server_may_say_how_long_to_wait(store: Store) -> None:
    store.troubles = [(503, {"Retry-After": "7"}), (503, {"Retry-After": "3600"})]
    waits = Waits()
    load(Server(store.url), some(5), waits.patience)
    # Half a minute at most.
    assert waits.seconds == [7.0, 30.0]


@pytest.mark.parametrize("said", ["Wed, 21 Oct 2026 07:28:00 GMT", "-5", "nan", "inf"])
def test_a_time_to_wait_that_is_none_is_passed_over(store: Store, said: str) -> None:
    store.troubles = [(429, {"Retry-After": said})]
    waits = Waits()
    load(Server(store.url), some(5), waits.patience)
    assert waits.seconds == [0.5]


def test_a_lost_connection_is_made_again(store: Store) -> None:
    store.troubles = ["drop", "drop"]
    waits = Waits()
    assert load(Server(store.url), some(5), waits.patience).taken == 5
    assert len(waits.seconds) == 2
    assert sent(store) == ALL_FIVE


def test_it_gives_up_in_the_end(store: Store, says: Says) -> None:
    store.troubles = [(503, {})] * 9
    with pytest.raises(ExportError) as raised:
        load(Server(store.url), some(5), Waits().patience)
    assert raised.value == says("4", "503")
    assert raised.value.where == store.url
    assert len(store.bulk_requests) == 4


def test_a_server_that_is_not_there_is_reported(says: Says) -> None:
    with socket.socket() as bound:
        # Bound and not listening: the port is taken, and refuses.
        bound.bind(("127.0.0.1", 0))
        server = Server(f"http://127.0.0.1:{bound.getsockname()[1]}")
        with pytest.raises(ExportError) as caught:
            load(server, some(1), Waits().patience)
        assert caught.value == says()


def test_only_documents_that_found_no_room_are_sent_again(store: Store, says: Says) -> None:
    refused_once: set[str] = set()

    def judge(index: str, identity: str, body: object) -> Outcome:
        if identity in ("id-1", "id-3") and identity not in refused_once:
            refused_once.add(identity)
            return 429, {"type": "rejected_execution_exception", "reason": "queue full"}
        return 201, None

    store.judge = judge
    waits = Waits()
    loaded = load(Server(store.url), some(5), waits.patience)
    assert (loaded.taken, loaded.failed) == (5, 0)
    assert sent(store) == ALL_FIVE
    first, second = store.bulk_requests
    assert (first.body.count(b"\n"), second.body.count(b"\n")) == (10, 4)
    assert waits.said == [says("2", "0.5")]


def test_a_server_without_any_room_is_given_up(store: Store, says: Says) -> None:
    store.judge = lambda index, identity, body: (429, {"type": "busy", "reason": "full"})
    with pytest.raises(ExportError) as caught:
        load(Server(store.url), some(5), Waits().patience)
    assert caught.value == says("4")


def test_refused_documents_are_counted_and_the_others_taken(store: Store) -> None:
    def judge(index: str, identity: str, body: object) -> Outcome:
        if identity in ("id-1", "id-3"):
            return 400, {"type": "mapper_parsing_exception", "reason": f"bad {identity}"}
        return 201, None

    store.judge = judge
    loaded = load(Server(store.url), some(5), Waits().patience)
    assert (loaded.taken, loaded.failed) == (3, 2)
    assert str(loaded) == "2 tag: mapper_parsing_exception: bad id-1"
    # They would be refused again.
    assert len(store.bulk_requests) == 1


def test_it_stops_when_it_is_refused_all_the_time(
    store: Store, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(bulk, "BATCH_DOCUMENTS", 100)
    store.judge = lambda index, identity, body: (
        400,
        {"type": "strict_dynamic_mapping_exception", "reason": "no"},
    )
    with pytest.raises(ExportError) as caught:
        load(Server(store.url), some(5000), Waits().patience)
    assert caught.value == says("1000", "0")
    assert len(store.bulk_requests) == 10


def test_too_much_at_once_is_halved(store: Store) -> None:
    store.most_bytes = 150
    assert load(Server(store.url), some(5), Waits().patience).taken == 5
    assert sent(store) == ALL_FIVE
    assert all(len(request.body) <= 150 for request in store.bulk_requests[-2:])


def test_one_document_that_is_too_much_alone_is_refused(store: Store) -> None:
    store.most_bytes = 20
    loaded = load(Server(store.url), some(2), Waits().patience)
    assert (loaded.taken, loaded.failed) == (0, 2)
    assert "too large" in str(loaded)


@pytest.mark.parametrize("status", [401, 403])
def test_refused_access_is_reported_at_once(store: Store, status: int) -> None:
    store.troubles = [(status, {})]
    with pytest.raises(InputError, match=f"access was refused: HTTP {status}") as raised:
        load(Server(store.url), some(1), Waits().patience)
    assert "PLIMSOLL_EXPORT_USER" in raised.value.remedy
    assert len(store.requests) == 1


def test_another_answer_is_reported(store: Store, says: Says) -> None:
    store.troubles = [(500, {})]
    with pytest.raises(ExportError) as caught:
        load(Server(store.url), some(1), Waits().patience)
    assert caught.value == says("500")


def test_a_redirection_is_not_followed(store: Store, says: Says) -> None:
    store.troubles = [(307, {"Location": "http://127.0.0.1:1/_bulk"})]
    with pytest.raises(ExportError) as caught:
        load(Server(store.url), some(1), Waits().patience)
    assert caught.value == says("http://127.0.0.1:1/_bulk")


def test_an_answer_about_other_documents_is_no_success(store: Store, says: Says) -> None:
    class Forgetful(Server):
        def ask(self, *arguments: object, **named: object):  # type: ignore[no-untyped-def]
            answer = super().ask(*arguments, **named)  # type: ignore[arg-type]
            del answer.body["items"][0]  # type: ignore[attr-defined]
            return answer

    with pytest.raises(ExportError) as caught:
        load(Forgetful(store.url), some(5), Waits().patience)
    assert caught.value == says("5", "4")


def test_nothing_to_load_asks_nothing(store: Store) -> None:
    assert load(Server(store.url), [], Waits().patience).taken == 0
    assert store.requests == []
