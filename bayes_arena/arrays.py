"""Types of arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

type Array = NDArray[Any]
type Floats = NDArray[np.floating]
type Ints = NDArray[np.integer]
