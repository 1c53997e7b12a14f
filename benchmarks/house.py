"""The shape of the package: files, imports, levels, and the rooms that a newcomer walks through.

    uv run python benchmarks/house.py [FOLDER]

FOLDER is another checkout to measure, the one before a change say. A level is the longest chain of imports below a
file; files that import each other count as one. A circle is a set of such files, where imports for a type count, too.
A room is a folder, or a file at the top.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import grimp

PACKAGE = "bayes_arena"


def room(module: str) -> str:
    """Return the folder of a module; of one at the top itself."""
    parts = module.split(".")
    return ".".join(parts[1:-1]) or parts[-1]


def longest_chain(imports: dict[str, set[str]]) -> int:
    """Return the number of levels of a graph in which cycles count as one."""
    levels: dict[str, int] = {}

    def level(name: str, above: tuple[str, ...]) -> int:
        if name in above:
            return 0
        if name not in levels:
            levels[name] = 1 + max((level(one, (*above, name)) for one in sorted(imports[name])), default=0)
        return levels[name]

    return max(level(name, ()) for name in sorted(imports))


def circles(graph: grimp.ImportGraph) -> set[frozenset[str]]:
    """Return the sets of files that import each other."""
    found = {
        frozenset({name, *(graph.find_upstream_modules(name) & graph.find_downstream_modules(name))})
        for name in graph.modules
    }
    return {circle for circle in found if len(circle) > 1}


def main() -> None:
    """Print the table."""
    checkout = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    sys.path.insert(0, str(checkout))
    graph = grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)
    files = {name for name in graph.modules if not graph.find_children(name)}
    imports = {name: graph.find_modules_directly_imported_by(name) & files for name in files}
    rooms: dict[str, set[str]] = {room(name): set() for name in files}
    for name, others in imports.items():
        rooms[room(name)] |= {room(other) for other in others} - {room(name)}
    sizes = Counter(map(room, files))
    mutual = {frozenset((one, other)) for one, others in rooms.items() for other in others if one in rooms[other]}
    for what, number in (
        ("files", len(files)),
        ("imports between files", sum(map(len, imports.values()))),
        ("levels of files", longest_chain(imports)),
        ("circles between files", len(circles(grimp.build_graph(PACKAGE, cache_dir=None)))),
        ("rooms", len(rooms)),
        ("imports between rooms", sum(map(len, rooms.values()))),
        ("levels of rooms", longest_chain(rooms)),
        ("pairs of rooms that import each other", len(mutual)),
        ("files in the largest room", max(size for name, size in sizes.items() if sizes[name] > 1)),
    ):
        print(f"{what:<38} {number}")


if __name__ == "__main__":
    main()
