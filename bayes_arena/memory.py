"""Memory: how much there is by the machine, and by the limits of the process and of its control group (container)."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from bayes_arena.errors import TooLargeError

FREELY = 2**30
"""Bytes that every machine has."""
LOADED = {"AS": 3 * 2**29, "DATA": 3 * 2**27, "group": 2**27}
"""Bytes that the process comes to with the libraries of a small fit: of addresses, of data, of memory. Some libraries
end the process if they get none, so what they will take counts as taken before they are loaded."""
UNLIMITED = 2**60
"""Bytes from which a limit is none: version 1 of control groups writes a number where there is none."""
PROCESS = Path("/proc/self")
GROUPS = Path("/sys/fs/cgroup")


def shortage(needed: float, *, now: bool = False) -> str:
    """Return what leaves less memory than is needed, in words: "this machine has 16 GiB"; empty if nothing does.

    Of the machine all memory counts or, with ``now``, what is free. Of a limit what the process uses is taken off: of
    its addresses (``RLIMIT_AS``), its data (``RLIMIT_DATA``), or the memory of its control group, version 1 or 2.
    """
    left = [(size, f"the limit {name} leaves") for size, name in _left_by_limits()]
    if needed >= FREELY:
        import psutil  # only here: most fits are small

        machine = psutil.virtual_memory()  # type: ignore[no-untyped-call]
        left.append((machine.available, "this machine has free") if now else (machine.total, "this machine has"))
    size, said = min(left, default=(0, ""))
    return f"{said} {gib(max(size, 0))}" if said and size <= needed else ""


@contextmanager
def enough_memory(what: str) -> Iterator[None]:
    """Where there is too little memory to begin, or it runs out, say for what in a TooLargeError."""
    remedy = "Raise the limit, or use fewer votes or competitors."
    if short := shortage(0):
        raise TooLargeError(f"There is too little memory for {what}: {short}. {remedy}")
    try:
        yield
    except MemoryError as error:
        raise TooLargeError(
            f"Memory ran out in {what}: {str(error) or shortage(math.inf, now=True)}. {remedy}"
        ) from error


def gib(size: float) -> str:
    """Return a number of bytes in GiB, to two digits."""
    size /= 2**30
    return f"{size:,.0f} GiB" if size >= 10 else f"{size:.2g} GiB"


def _left_by_limits() -> Iterator[tuple[int, str]]:
    """Yield what every limit leaves to this process, and the name of the limit; nothing but on Linux."""
    if not (statm := PROCESS / "statm").exists():
        return
    import resource

    most = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0] for name in ("AS", "DATA")}
    groups = _limits_of_groups(PROCESS, GROUPS)
    if not groups and set(most.values()) == {resource.RLIM_INFINITY}:
        return
    pages = [int(number) * mmap.PAGESIZE for number in statm.read_text().split()]
    for name, used in (("AS", pages[0]), ("DATA", pages[5])):
        if most[name] != resource.RLIM_INFINITY:
            yield most[name] - max(used, LOADED[name]), f"RLIMIT_{name}"
    for limit in groups:
        yield limit - max(pages[1], LOADED["group"]), "of the container's memory"


@cache
def _limits_of_groups(process: Path, groups: Path) -> tuple[int, ...]:
    """Return the limits, in bytes, of the control groups that a process is in, and of those that these are in.

    In a container the path may be one of the machine, which is not there; its own group is then the root. Every fit
    asks, so they are read once.
    """
    found = []
    for line in (process / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, name = groups, "memory.max"
        elif "memory" in controllers.split(","):
            root, name = groups / "memory", "memory.limit_in_bytes"
        else:
            continue
        group = root / path.lstrip("/")
        found += [place / name for place in (group, *group.parents) if place.is_relative_to(root)]
    limits = (file.read_text().strip() for file in found if file.is_file())
    return tuple(int(limit) for limit in limits if limit != "max" and int(limit) < UNLIMITED)
