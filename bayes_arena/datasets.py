"""Votes published on the Hugging Face hub.

A data set's Parquet files are listed by the hub's HTTP API (``/api/datasets/<repository>``), which also names the
revision, and fetched from ``/datasets/<repository>/resolve/<revision>/<file>``. They are kept where the hub's own
client keeps them, ``datasets--<owner>--<name>/snapshots/<revision>/`` under ``$HF_HUB_CACHE`` (else ``$HF_HOME/hub``,
else ``~/.cache/huggingface/hub``), so neither program fetches what the other has. ``HF_ENDPOINT`` names another hub,
``HF_TOKEN`` the reader's access token, which is sent to the hub and to no other host that it forwards to.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO

from bayes_arena.errors import AccessError, DatasetError, listing

ENDPOINT = "https://huggingface.co"
CHATBOT_ARENA = "lmsys/chatbot_arena_conversations"
"""The paper's data: 33,000 conversations of Chatbot Arena (Zheng et al., 2023)."""
COLUMNS = ("model_a", "model_b", "winner", "judge")
"""What a votes data set must have."""
TIMEOUT = 60.0
"""Seconds without an answer."""
REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")
REVISION = re.compile(r"[0-9a-f]{7,64}")


def hub_files(repository: str = CHATBOT_ARENA) -> list[Path]:
    """Fetch the votes of a data set on the Hugging Face hub, or find them in the cache.

    Parameters
    ----------
    repository : str
        ``owner/name``.

    Returns
    -------
    list of Path
        Parquet files with the columns ``model_a, model_b, winner, judge``, for :func:`~bayes_arena.read_votes`.

    Raises
    ------
    AccessError
        If the hub asks for an access token, or for its conditions to be accepted.
    DatasetError
        If the hub cannot be reached, or what it has is no table of votes.

    Examples
    --------
    >>> cells = read_votes(hub_files("lmsys/chatbot_arena_conversations"))  # doctest: +SKIP
    """
    if not REPOSITORY.fullmatch(repository):
        raise DatasetError(f"A data set on the hub is called owner/name, as {CHATBOT_ARENA}; not {repository!r}.")
    base = os.environ.get("HF_ENDPOINT", ENDPOINT).rstrip("/")
    if not base.startswith(("https://", "http://")):
        raise DatasetError(f"HF_ENDPOINT is an address such as {ENDPOINT}, not {base!r}.")
    revision, names = _list(base, repository)
    folder = _cache() / f"datasets--{repository.replace('/', '--')}" / "snapshots" / revision
    paths = []
    for name in names:
        path = folder / name
        if not path.is_file():
            _fetch(f"{base}/datasets/{repository}/resolve/{revision}/{urllib.parse.quote(name)}", repository, path)
        _require_columns(path, repository)
        paths.append(path)
    return paths


def _cache() -> Path:
    """Return the folder in which the hub's own client keeps its files."""
    if folder := os.environ.get("HF_HUB_CACHE"):
        return Path(folder)
    home = os.environ.get("HF_HOME")
    return (Path(home) if home else Path.home() / ".cache" / "huggingface") / "hub"


def _list(base: str, repository: str) -> tuple[str, list[str]]:
    """Return the revision of a data set and the names of its Parquet files, sorted."""
    with tempfile.TemporaryFile() as answer:
        _read(f"{base}/api/datasets/{repository}", repository, answer)
        answer.seek(0)
        try:
            described = json.load(answer)
            revision, names = described["sha"], [str(file["rfilename"]) for file in described["siblings"]]
        except (ValueError, KeyError, TypeError):
            raise DatasetError(f"{base} does not answer as the Hugging Face hub does. Check HF_ENDPOINT.") from None
    parquet = sorted(name for name in names if name.endswith(".parquet"))
    if not parquet:
        raise DatasetError(f"{repository} has no Parquet file; its files are {listing(names) or 'none'}.")
    outside = [name for name in parquet if ".." in Path(name).parts or Path(name).is_absolute()]
    if outside or not isinstance(revision, str) or not REVISION.fullmatch(revision):
        raise DatasetError(
            f"{base} names files outside the data set: {listing(outside) or revision}. Check HF_ENDPOINT."
        )
    return revision, parquet


def _fetch(url: str, repository: str, path: Path) -> None:
    """Download a file; it has its name only once it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, suffix=".incomplete", delete=False) as file:
        partial = Path(file.name)
        try:
            _read(url, repository, file)
            file.close()
            partial.replace(path)
        finally:
            with suppress(FileNotFoundError):
                partial.unlink()


def _read(url: str, repository: str, into: IO[bytes]) -> None:
    """Copy what an address answers."""
    request = urllib.request.Request(url)
    if token := os.environ.get("HF_TOKEN"):
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.build_opener(_Forwarding).open(request, timeout=TIMEOUT) as answer:
            promised = answer.headers.get("Content-Length")
            shutil.copyfileobj(answer, into)
        if promised is not None and into.tell() != int(promised):
            raise DatasetError(f"The hub sent {into.tell()} of {promised} bytes of {url}. Try again.")
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (401, 403):
            raise AccessError(
                f"The hub refuses {repository} ({error.code}). Accept its conditions on "
                f"{ENDPOINT}/datasets/{repository}, then set HF_TOKEN to an access token of that account."
            ) from None
        if error.code == 404:
            raise DatasetError(f"The hub has nothing at {url}. Check the name {repository!r}.") from None
        raise DatasetError(f"The hub failed with {error.code} {error.reason} at {url}. Try again later.") from None
    except (urllib.error.URLError, ConnectionError, TimeoutError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise DatasetError(
            f"Cannot reach {url}: {reason}. Check the network and HF_ENDPOINT, or pass a file already downloaded."
        ) from None


class _Forwarding(urllib.request.HTTPRedirectHandler):
    """Follows the hub to its file servers, without the token unless the server is the hub itself."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        """Return the request to forward to."""
        forwarded = super().redirect_request(req, fp, code, msg, headers, newurl)
        token = req.unredirected_hdrs.get("Authorization")
        if forwarded is not None and token and _origin(newurl) == _origin(req.full_url):
            forwarded.add_unredirected_header("Authorization", token)
        return forwarded


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _require_columns(path: Path, repository: str) -> None:
    """Refuse a file that is no table of votes."""
    import polars as pl

    try:
        names = list(pl.read_parquet_schema(path))
    except pl.exceptions.PolarsError:
        raise DatasetError(f"{path} is no Parquet file. Remove it and try again.") from None
    absent = [name for name in COLUMNS if name not in names]
    if absent:
        raise DatasetError(
            f"{repository} has no column {listing(map(repr, absent))}; its layout has changed, or it holds no votes. "
            f"{path.name} has: {', '.join(names)}. Read the file with read_votes, which takes names of columns."
        )
