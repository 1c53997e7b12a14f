"""The hub's loader against a hub on this machine's loopback: no network."""

import io
import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

import bayes_arena as ba

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
            token = self.headers.get("Authorization")
            asked.append((self.path, token))
            status, headers, body = answer(self.path, token)
            self.send_response(status)
            for name, value in ({"Content-Length": len(body)} | headers).items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(body)

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


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Start a hub of one data set: call it with the files, and with what else it answers first."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_TOKEN", TOKEN)

    @contextmanager
    def start(files, first=lambda path, token: None, sha=SHA):
        def answer(path, token):
            if special := first(path, token):
                return special
            if path == f"/api/datasets/{REPOSITORY}":
                listed = {"sha": sha, "siblings": [{"rfilename": name} for name in files]}
                return 200, {}, json.dumps(listed).encode()
            if token != f"Bearer {TOKEN}":
                return 401, {}, b"gated"
            name = path.removeprefix(f"/datasets/{REPOSITORY}/resolve/{SHA}/")
            return (200, {}, files[name]) if name in files else (404, {}, b"")

        with serving(answer) as (address, asked):
            monkeypatch.setenv("HF_ENDPOINT", address)
            yield asked

    return start


FILES = {
    "README.md": b"text",
    "data/train-0.parquet": parquet(VOTES[:3]),
    "data/train-1.parquet": parquet(VOTES[3:]),
}


def test_votes_of_the_hub_are_fetched_once_and_read(hub, tmp_path):
    with hub(FILES) as asked:
        paths = ba.hub_files(REPOSITORY)
        folder = tmp_path / "hub" / "datasets--lmsys--chatbot_arena_conversations" / "snapshots" / SHA / "data"
        assert paths == [folder / "train-0.parquet", folder / "train-1.parquet"]
        assert sorted(folder.iterdir()) == paths  # nothing incomplete is left
        cells = ba.read_votes(paths)
        assert (cells.competitors, cells.annotators) == (("x", "y", "z"), ("arena_user_1", "arena_user_2"))
        assert cells.counts.sum(axis=0).tolist() == [1, 1, 1, 1]
        fetched = len(asked)
        assert ba.hub_files(REPOSITORY) == paths
    assert fetched == 3
    assert [path for path, _ in asked[fetched:]] == [f"/api/datasets/{REPOSITORY}"]


@pytest.mark.parametrize("status", [401, 403])
def test_no_access_says_how_to_get_it(hub, monkeypatch, status):
    refuse = lambda path, token: (status, {}, b"") if "resolve" in path else None  # noqa: E731
    with hub(FILES, refuse), pytest.raises(ba.AccessError, match=rf"\({status}\).*conditions.*HF_TOKEN"):
        ba.hub_files(REPOSITORY)
    monkeypatch.delenv("HF_TOKEN")
    with hub(FILES) as asked, pytest.raises(ba.AccessError):
        ba.hub_files(REPOSITORY)
    assert {token for _, token in asked} == {None}


def test_the_token_goes_to_the_hub_only(hub):
    """The hub forwards within itself, and to a file server elsewhere; only the first sees the token."""
    with serving(lambda path, token: (200, {}, FILES["data/train-0.parquet"])) as (elsewhere, theirs):

        def forward(path, token):
            if path.startswith("/moved"):
                return 302, {"Location": f"{elsewhere}/signed"}, b""
            return (302, {"Location": "/moved"}, b"") if "resolve" in path else None

        with hub({"votes.parquet": b""}, forward) as asked:
            assert ba.read_votes(ba.hub_files(REPOSITORY)).n_votes == 3
    assert asked[-1] == ("/moved", f"Bearer {TOKEN}")
    assert theirs == [("/signed", None)]


def test_another_layout_is_an_error(hub):
    with (
        hub({"a.parquet": parquet(VOTES.drop("judge", "winner"))}),
        pytest.raises(ba.DatasetError, match=r"no column 'winner', 'judge'.*layout has changed.*question_id"),
    ):
        ba.hub_files(REPOSITORY)
    with hub({"a.csv": b""}), pytest.raises(ba.DatasetError, match=r"no Parquet file; its files are a\.csv"):
        ba.hub_files(REPOSITORY)
    with hub({"b.parquet": b"<html>"}), pytest.raises(ba.DatasetError, match="is no Parquet file"):
        ba.hub_files(REPOSITORY)


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"[]", b'{"sha": "ab12ab12", "siblings": [1]}'])
def test_something_else_than_the_hub(hub, body):
    with hub({}, lambda path, token: (200, {}, body)), pytest.raises(ba.DatasetError, match="Check HF_ENDPOINT"):
        ba.hub_files(REPOSITORY)


@pytest.mark.parametrize(("name", "sha"), [("../../x.parquet", SHA), ("/x.parquet", SHA), ("x.parquet", "../../x")])
def test_a_hub_cannot_write_outside_the_cache(hub, tmp_path, name, sha):
    with hub({name: b""}, sha=sha), pytest.raises(ba.DatasetError, match="outside the data set"):
        ba.hub_files(REPOSITORY)
    assert not list(tmp_path.rglob("*.parquet"))


def test_half_a_file_is_no_file(hub, tmp_path):
    short = lambda path, token: (200, {"Content-Length": 9999}, b"PAR1") if "resolve" in path else None  # noqa: E731
    with hub(FILES, short), pytest.raises(ba.DatasetError, match=r"4 of 9999 bytes|Cannot reach"):
        ba.hub_files(REPOSITORY)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_else_can_fail(hub, monkeypatch):
    with (
        hub({}, lambda path, token: (404, {}, b"")),
        pytest.raises(ba.DatasetError, match=r"nothing at .*Check the name"),
    ):
        ba.hub_files(REPOSITORY)
    with hub({}, lambda path, token: (503, {}, b"")), pytest.raises(ba.DatasetError, match="failed with 503"):
        ba.hub_files(REPOSITORY)
    with serving(lambda path, token: (200, {}, b"")) as (gone, _):
        pass
    monkeypatch.setenv("HF_ENDPOINT", gone)
    with pytest.raises(ba.DatasetError, match=r"Cannot reach http.*network"):
        ba.hub_files(REPOSITORY)
    monkeypatch.setenv("HF_ENDPOINT", "hub")
    with pytest.raises(ba.DatasetError, match="HF_ENDPOINT is an address"):
        ba.hub_files(REPOSITORY)
    with pytest.raises(ba.DatasetError, match="owner/name"):
        ba.hub_files("chatbot arena")


def test_the_command_takes_votes_from_the_hub(hub, tmp_path):
    command = [Path(sys.executable).parent / "bayes-arena", "reproduce", "table1", "--delta", "0", "-o", tmp_path]
    with hub(FILES):
        done = subprocess.run([*command, "--data", f"hf:{REPOSITORY}"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "4 votes, 3 models, 2 annotators" in done.stdout
    with hub(FILES, lambda path, token: (403, {}, b"")):
        done = subprocess.run([*command, "--data", f"hf:{REPOSITORY}"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "HF_TOKEN" in done.stderr
    assert "Traceback" not in done.stderr
