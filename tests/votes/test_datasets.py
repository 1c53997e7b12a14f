"""The hub's client against a hub on this machine's loopback: no network."""

import hashlib
import io
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest
from helpers import run

import bayes_arena as ba
from bayes_arena.votes.sources.hub import hub_files

pytestmark = pytest.mark.slow  # importing the hub's client takes more than a second
REPOSITORY, SHA, TOKEN = "lmsys/chatbot_arena_conversations", "ab12" * 10, "secret"
VOTES = pl.DataFrame(
    {
        "question_id": ["1", "2", "3", "4"],
        "model_a": ["x", "y", "z", "x"],
        "model_b": ["y", "z", "x", "z"],
        "winner": ["model_a", "tie", "tie (bothbad)", "model_b"],
        "judge": ["arena_user_1", "arena_user_2", "arena_user_1", "arena_user_2"],
        "conversation_a": [[{"content": "hello", "role": "user"}]] * 4,
    }
)


def parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


@contextmanager
def serving(answer):
    """Serve ``answer(path, token) -> (status, headers, body)`` and collect what was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            token, path = self.headers.get("Authorization"), self.path.partition("?")[0]
            if path != "/api/agent-harnesses":  # the client's own affair
                asked.append((path, token))
            status, headers, body = answer(path, token)
            self.send_response(status)
            for name, value in ({"Content-Length": len(body)} | headers).items():
                self.send_header(name, str(value))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


EXPERT = pl.DataFrame(
    {
        "id": ["1", "2", "3"],
        "model_a": ["x", "y", "z"],
        "model_b": ["y", "z", "x"],
        "winner": ["model_a", "tie", "both_bad"],
        "conversation_a": [[{"content": "hello", "role": "user"}]] * 3,
        "conversation_b": [[{"content": "hello", "role": "user"}]] * 3,
        "evaluation_order": [1, 2, 1],
        "full_conversation": [[{"user_side": {"content": "hello"}}]] * 3,
        "language": ["en", "de", "en"],
        "occupational_tags": [{"law": True}] * 3,
    }
)


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Start a hub of one data set: call it with the files, and with what else it answers first."""
    from huggingface_hub import constants

    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))  # read from the environment at import

    @contextmanager
    def start(files, first=lambda path, token: None, password=""):
        def answer(path, token):
            if special := first(path, token):
                return special
            if path.startswith(f"/api/datasets/{REPOSITORY}/tree/"):
                listed = [{"type": "file", "path": name, "size": len(files[name]), "oid": "0" * 40} for name in files]
                return 200, {}, json.dumps(listed).encode()
            if path.startswith(f"/api/datasets/{REPOSITORY}"):
                return 200, {}, json.dumps({"id": REPOSITORY, "sha": SHA}).encode()
            name = path.removeprefix(f"/datasets/{REPOSITORY}/resolve/{SHA}/")
            if name not in files:
                return 404, {}, b""
            headers = {"X-Repo-Commit": SHA, "ETag": hashlib.sha1(files[name]).hexdigest()}
            if not token:
                return 403, {"X-Error-Code": "GatedRepo"}, b""
            return 200, headers, files[name]

        with serving(answer) as (address, asked):
            address = address.replace("//", f"//{password}")
            monkeypatch.setenv("HF_ENDPOINT", address)
            template = address + constants.HUGGINGFACE_CO_URL_TEMPLATE[len(constants.ENDPOINT) :]
            monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
            monkeypatch.setattr(constants, "ENDPOINT", address)
            yield asked

    return start


FILES = {
    "README.md": b"text",
    "data/train-0.parquet": parquet(VOTES[:3]),
    "data/train-1.parquet": parquet(VOTES[3:]),
}


@pytest.mark.slow
def test_votes_of_the_hub_are_fetched_once_and_read(hub, tmp_path):
    with hub(FILES) as asked:
        paths = hub_files(REPOSITORY)
        folder = tmp_path / "hub" / "datasets--lmsys--chatbot_arena_conversations" / "snapshots" / SHA / "data"
        assert paths == [folder / "train-0.parquet", folder / "train-1.parquet"]
        fetched = len(asked)
        cells = ba.read_votes(f"hf:{REPOSITORY}")
        assert (cells.competitors, cells.annotators) == (("x", "y", "z"), ("arena_user_1", "arena_user_2"))
        assert cells.counts.sum(axis=0).tolist() == [1, 1, 1, 1]
    assert {token for _, token in asked} == {f"Bearer {TOKEN}"}
    assert not any("README" in path for path, _ in asked)
    assert not any("resolve" in path for path, _ in asked[fetched:])


def test_a_data_set_without_annotators_is_read(hub):
    with hub({"data/train.parquet": parquet(EXPERT)}):
        cells = ba.read_votes(f"hf:{REPOSITORY}")
    assert (cells.competitors, cells.n_annotators, cells.n_votes) == (("x", "y", "z"), 0, 3)


def test_no_access_says_how_to_get_it(hub, monkeypatch):
    for status in (401, 403):
        refuse = lambda path, token, status=status: (status, {}, b"")  # noqa: E731
        with hub(FILES, refuse), pytest.raises(ba.errors.AccessError, match=rf"\({status}\).*conditions.*HF_TOKEN"):
            hub_files(REPOSITORY)
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setenv("HF_TOKEN_PATH", os.devnull)
    gated = lambda path, token: (403, {"X-Error-Code": "GatedRepo"}, b"") if "resolve" in path else None  # noqa: E731
    with hub(FILES, gated), pytest.raises(ba.errors.AccessError, match="HF_TOKEN"):
        hub_files(REPOSITORY)


def test_the_token_goes_to_the_hub_only(hub):
    """The hub forwards to a file server elsewhere."""
    with serving(lambda path, token: (200, {}, FILES["data/train-0.parquet"])) as (elsewhere, theirs):

        def forward(path, token):
            size = len(FILES["data/train-0.parquet"])
            headers = {"X-Repo-Commit": SHA, "ETag": "tag", "X-Linked-Size": size, "Location": f"{elsewhere}/signed"}
            return (302, headers, b"") if "resolve" in path else None

        with hub({"votes.parquet": FILES["data/train-0.parquet"]}, forward):
            assert ba.read_votes(hub_files(REPOSITORY)).n_votes == 3
    assert theirs
    assert {token for _, token in theirs} == {None}


def test_the_password_of_an_endpoint_is_sent_and_never_shown(hub, capfd):
    with hub(FILES, password="user:p%40ss@") as asked:
        assert ba.read_votes(f"hf:{REPOSITORY}").n_votes == 4
    assert {token for _, token in asked} == {"Basic dXNlcjpwQHNz"}
    for status in (403, 404, 400):
        with (
            hub(FILES, lambda path, token, status=status: (status, {}, b""), password="user:p%40ss@"),
            pytest.raises(ba.errors.DatasetError) as error,
        ):
            hub_files("lmsys/other")
        assert "127.0.0.1" in str(error.value)
        assert error.value.__suppress_context__
        for text in (str(error.value), *capfd.readouterr()):
            assert "p%40ss" not in text and "p@ss" not in text


def test_what_can_fail(hub, monkeypatch):
    with hub({"a.csv": b""}), pytest.raises(ba.errors.DatasetError, match="has no Parquet file"):
        hub_files(REPOSITORY)
    nothing = lambda path, token: (404, {"X-Error-Code": "RepoNotFound"}, b"")  # noqa: E731
    with (
        hub(FILES, nothing),
        pytest.raises(ba.errors.DatasetError, match=r"has no data set 'lmsys/other'\. Check the name"),
    ):
        hub_files("lmsys/other")
    with (
        hub(FILES, lambda path, token: (200, {}, b"<html>")),
        pytest.raises(ba.errors.DatasetError, match="HF_ENDPOINT"),
    ):
        hub_files("lmsys/other")
    with hub(FILES):
        pass
    with pytest.raises(ba.errors.DatasetError, match=r"Cannot fetch lmsys/other from http.*network"):
        hub_files("lmsys/other")
    with pytest.raises(ba.errors.DatasetError, match="owner/name"):
        ba.read_votes("hf:chatbot arena")


def test_a_hub_cannot_write_outside_the_cache(hub, tmp_path):
    body = FILES["data/train-0.parquet"]
    with hub({"../../../../x.parquet": body}), pytest.raises(ba.errors.DatasetError):
        hub_files(REPOSITORY)
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.slow
def test_the_papers_tables_take_votes_from_the_hub(hub, tmp_path):
    with hub(FILES):
        done = run("reproduce", "table1", "--delta", "0", "-o", tmp_path, "--data", f"hf:{REPOSITORY}")
    assert done.returncode == 0, done.stderr
    assert "4 votes, 3 models, 2 annotators" in done.stdout


@pytest.mark.slow
def test_commands_take_votes_from_the_hub(hub, tmp_path):
    with hub(FILES):
        done = run("check", f"hf:{REPOSITORY}")
        assert f"hf:{REPOSITORY}: 4 votes, 3 competitors, 2 annotators" in done.stdout
        run("arena", "init", tmp_path / "arena.duckdb")
        done = run("arena", "add", tmp_path / "arena.duckdb", f"hf:{REPOSITORY}", "--id", "question_id")
        assert done.returncode == 0, done.stderr
    with hub(FILES, lambda path, token: (403, {}, b"")):
        done = run("rank", "hf:lmsys/other")
    assert done.returncode == 2
    assert "HF_TOKEN" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_hubs_client_is_imported_for_the_hub_only(tmp_path):
    VOTES.write_parquet(tmp_path / "votes.parquet")
    code = f"import sys, bayes_arena as ba; ba.read_votes({str(tmp_path / 'votes.parquet')!r})"
    done = subprocess.run([sys.executable, "-c", f"{code}; assert 'huggingface_hub' not in sys.modules"])
    assert done.returncode == 0
