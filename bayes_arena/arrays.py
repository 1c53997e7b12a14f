"""Types of arrays, and a look-up in sorted ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

type Array = NDArray[Any]
type Floats = NDArray[np.floating]
type Ints = NDArray[np.integer]


def positions_of(keys: Array, wanted: Array) -> Ints:
    """Return the positions of numbers among sorted keys, -1 for those not there."""
    position = np.searchsorted(keys, wanted)
    # Beyond the last key there is nothing to compare with: the last one will differ.
    position = np.minimum(position, len(keys) - 1)
    return np.where(keys[position] == wanted, position, -1)
