"""Votes published on the Hugging Face hub, fetched by its own client.

That client keeps files in its cache (``$HF_HUB_CACHE``), shows progress, finds the user's access token (``$HF_TOKEN``
or ``hf auth login``) and sends it to the hub alone; ``$HF_ENDPOINT`` names another hub, ``$HF_HUB_OFFLINE`` reads the
cache only.
"""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bayes_arena.errors import AccessError, DatasetError
from bayes_arena.extras import require

CHATBOT_ARENA = "lmsys/chatbot_arena_conversations"
"""The paper's data: 33,000 conversations of Chatbot Arena (Zheng et al., 2023)."""
HUB = "hf:"
"""Prefix of the name of a data set where a file is also possible."""
REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def hub_files(repository: str = CHATBOT_ARENA) -> list[Path]:
    """Fetch the Parquet files of a data set on the Hugging Face hub, or find them in the cache.

    ``read_votes("hf:owner/name")`` does so too, as does every command that takes a file.

    Parameters
    ----------
    repository : str
        ``owner/name``.

    Returns
    -------
    list of Path
        Parquet files, for :func:`~bayes_arena.read_votes`.

    Raises
    ------
    AccessError
        If the hub asks for an access token, or for its conditions to be accepted.
    DatasetError
        If the data set cannot be fetched, or has no Parquet file.
    MissingPackageError
        If the hub's client is not installed.

    Examples
    --------
    >>> cells = read_votes(hub_files("lmarena-ai/arena-expert-5k"))  # doctest: +SKIP
    """
    if not REPOSITORY.fullmatch(repository):
        raise DatasetError(
            f"A data set on the hub is named owner/name, {CHATBOT_ARENA} for instance; not {repository!r}."
        )
    require("Votes on the hub", "huggingface_hub")
    from huggingface_hub import snapshot_download

    endpoint, headers = _endpoint()
    try:
        folder = snapshot_download(
            repository, repo_type="dataset", allow_patterns="*.parquet", endpoint=endpoint, headers=headers
        )
    except Exception as error:  # its errors are those of its HTTP library, which depends on its version
        raise _explained(error, repository, endpoint) from None
    files = sorted(Path(folder).rglob("*.parquet"))
    if not files:
        raise DatasetError(f"{repository} has no Parquet file. Download its files and read those you need.")
    return files


def _endpoint() -> tuple[str, dict[str, str]]:
    """Return the hub's address, which is shown, and a header with the password that it may contain, which is not."""
    from huggingface_hub import constants

    password, _, host = urlsplit(constants.ENDPOINT).netloc.rpartition("@")
    if not password:
        return constants.ENDPOINT, {}
    basic = b64encode(unquote(password).encode()).decode()
    return constants.ENDPOINT.replace(f"{password}@{host}", host), {"authorization": f"Basic {basic}"}


def _explained(error: Exception, repository: str, endpoint: str) -> DatasetError:
    response = getattr(error, "response", None) or getattr(error.__cause__, "response", None)
    status = response.status_code if response is not None else None
    if status in (401, 403):
        return AccessError(
            f"The hub refuses {repository} ({status}): its name is wrong, or access to it is restricted. Accept its "
            f"conditions on {endpoint}/datasets/{repository}, then set HF_TOKEN to an access token of that account."
        )
    if status == 404:
        return DatasetError(f"The hub at {endpoint} has no data set {repository!r}. Check the name.")
    reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
    return DatasetError(
        f"Cannot fetch {repository} from {endpoint}: {reason}. "
        "Check the network and HF_ENDPOINT, or pass a downloaded file."
    )
