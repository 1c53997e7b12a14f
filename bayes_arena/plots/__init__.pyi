"""The pictures, and where they are defined."""

from .boards import board as board, pairs as pairs, ranks as ranks
from .fitted import observed as observed
from .people import annotators as annotators, favourites as favourites
from .slices import slices as slices
