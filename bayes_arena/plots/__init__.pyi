"""What is imported at its first use."""

from .board_forest import board as board
from .crowd import annotators as annotators
from .frontier import cost as cost
from .history import rounds as rounds
from .observed import calibration as calibration
from .squares import ranks as ranks, wins as wins
