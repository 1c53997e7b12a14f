"""What is imported at its first use."""

from .board_forest import board as board
from .crowd import annotators as annotators
from .frontier import cost as cost
from .observed import calibration as calibration
from .over_time import history as history, rounds as rounds
from .squares import ranks as ranks, wins as wins
