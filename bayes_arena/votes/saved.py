"""Votes in a file: one ``.npz`` of arrays, without pickle."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from bayes_arena.arrays import Array
from bayes_arena.errors import OutputError, VotesError
from bayes_arena.files import written_beside
from bayes_arena.said import NOWHERE, Call, Note

FORMAT = "bayes_arena votes 3"  # another number where older files cannot be read
SUFFIX = ".npz"
CODES = ("i", "j", "annotator")
type Attributes = dict[str, Any]  # of votes, by name


def is_saved(path: str | Path) -> bool:
    """Whether a path is that of saved votes, by its ending."""
    return Path(path).suffix.lower() == SUFFIX


def save(votes: Attributes, path: str | Path) -> None:
    """Write the attributes of votes to a file."""
    if not is_saved(path):
        text = f"Votes are saved as {SUFFIX}, not {str(path)!r}."
        raise OutputError(f"{text} Choose a name that ends in {SUFFIX}.")
    with written_beside(path, OutputError) as draft, draft.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **to_arrays(votes))


def to_arrays(votes: Attributes) -> dict[str, Array]:
    """Return the attributes of votes as arrays of numbers, by name."""
    about = {
        "format": FORMAT,
        "competitors": votes["competitors"],
        "annotators": votes["annotators"],
        "levels": {name: list(levels) for name, levels in votes["levels"].items()},
        "slices": list(votes["slices"]),
        "features": list(votes["features"]),
        "sided": votes["sided"],
        "dropped": dict(votes["dropped"]),
        "remarks": [note.row(NOWHERE) for note in votes["remarks"]],
    }
    arrays: dict[str, Array] = {name: votes[name] for name in CODES}
    arrays |= {f"slice {k}": c for k, c in enumerate(votes["slices"].values())}
    arrays = {name: smallest(codes) for name, codes in arrays.items()}
    arrays |= {f"counts {k}": smallest(c) for k, c in enumerate(votes["counts"].T)}
    arrays |= {f"feature {k}": v for k, v in enumerate(votes["features"].values())}
    if votes["given"] is not None:
        arrays["given"] = smallest(votes["given"])
    text = json.dumps(about, ensure_ascii=False).encode()
    return {"about": np.frombuffer(text, np.uint8), **arrays}


def smallest(values: Array) -> Array:
    """Return whole numbers that are not negative in the smallest type that holds them."""
    if values.dtype.kind == "f" and not (values == np.rint(values)).all():
        return values
    most = values.max(initial=0)
    for kind in (np.uint8, np.uint16, np.uint32):
        if most <= np.iinfo(kind).max:
            return values.astype(kind)
    return values


def load(path: str | Path) -> Attributes:
    """Read the attributes of votes that ``save`` wrote."""
    return from_arrays(read_arrays(path), path)


def read_arrays(path: str | Path) -> dict[str, Array]:
    """Return the arrays of a file."""
    try:
        with (
            Path(path).open("rb") as content,
            np.load(content, allow_pickle=False) as file,
        ):
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise VotesError(f"No file at {str(path)!r}. Check the path.") from None
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError):
        raise VotesError(
            f"{str(path)!r} cannot be read: it is damaged, or of another program."
        ) from None
    except OSError as error:
        reason = error.strerror or "it is no saved file"
        raise VotesError(f"{str(path)!r} cannot be read: {reason}.") from None


def from_arrays(arrays: dict[str, Array], path: str | Path) -> Attributes:
    """Return the attributes of votes that arrays hold, or refuse those that hold none."""
    if "fit" in arrays:
        raise VotesError(f"{str(path)!r} is a saved fit.", Call("load"))
    try:
        about = json.loads(arrays["about"].tobytes())
        votes = votes_in(arrays, about) if about["format"] == FORMAT else None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise VotesError(
            f"{str(path)!r} is damaged, or holds no votes: {error!r}."
        ) from None
    if votes is None:
        raise VotesError(
            f"{str(path)!r} was written by another version. Read the votes again."
        )
    return votes


def votes_in(arrays: dict[str, Array], about: dict[str, Any]) -> Attributes:
    """Return the attributes of votes that sound arrays hold."""
    whole = [name for name in arrays if name in CODES or name.startswith("slice ")]
    codes = {name: arrays[name].astype(np.intp) for name in whole}
    counts = [arrays[name] for name in arrays if name.startswith("counts ")]
    votes = dict(
        competitors=tuple(about["competitors"]),
        annotators=tuple(about["annotators"]),
        i=codes["i"],
        j=codes["j"],
        annotator=codes["annotator"],
        counts=np.stack(counts, axis=1).astype(float),
        given=arrays["given"].astype(float) if "given" in arrays else None,
        slices={name: codes[f"slice {k}"] for k, name in enumerate(about["slices"])},
        levels={name: tuple(levels) for name, levels in about["levels"].items()},
        features={
            name: arrays[f"feature {k}"] for k, name in enumerate(about["features"])
        },
        sided=bool(about["sided"]),
        dropped=about["dropped"],
        remarks=tuple(Note(**row) for row in about["remarks"]),
    )
    require_sound(votes)
    return votes


def require_sound(votes: Attributes) -> None:
    """Refuse codes that have no names, and counts that are no numbers."""
    n = len(votes["competitors"])
    # One more of annotators and levels: what nobody knows.
    sizes = [(votes["i"], n), (votes["j"], n)]
    sizes.append((votes["annotator"], len(votes["annotators"]) + 1))
    for name, codes in votes["slices"].items():
        sizes.append((codes, len(votes["levels"][name]) + 1))
    counts = votes["counts"]
    for codes, size in sizes:
        is_code = codes.min(initial=0) >= 0 and codes.max(initial=-1) < size
        if len(codes) != len(counts) or not is_code:
            raise ValueError("codes without names")
    if counts.shape[1] not in (3, 5) or not (counts >= 0).all():
        raise ValueError("counts that are no numbers")
    given = votes["given"]
    if given is not None and not (
        given.shape == counts.shape[:1] and (given >= 0).all()
    ):
        raise ValueError("numbers of votes that are none")
