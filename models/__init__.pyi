"""What is imported at its first use."""

from . import am_davidson as am_davidson
from . import am_elo as am_elo
from . import bradley_terry as bradley_terry
from . import m_elo as m_elo
from .grid import build as build
