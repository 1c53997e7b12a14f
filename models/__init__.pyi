"""Names that are imported on first use."""

from . import (
    am_davidson as am_davidson,
    am_elo as am_elo,
    am_elo_directions as am_elo_directions,
    bradley_terry as bradley_terry,
    davidson as davidson,
    m_elo as m_elo,
)
from .grid import build as build
