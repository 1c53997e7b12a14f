"""How tests of PyMC programs compile them."""

from pytensor.compile.mode import Mode

GRAPH = Mode(linker="py", optimizer="fast_compile")
"""The graph itself, without numba, which takes seconds for each."""
