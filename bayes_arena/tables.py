"""Tables: columns by name, and the forms in which they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayes_arena.arrays import Array

if TYPE_CHECKING:
    import pandas as pd

type Columns = Mapping[str, Sequence[Any] | Array]


def dataframe(columns: Columns) -> pd.DataFrame:
    """Return columns as a pandas dataframe."""
    import pandas as pd

    return pd.DataFrame(dict(columns))
