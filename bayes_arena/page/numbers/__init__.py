"""What every part of the page shows.

=======  ========================================================================
board    the table: tier, score, spread of ranks, P(best); who is told from whom
chances  how likely every place is, and every win
slices   the board of every category, language, ...
fitted   observed against predicted
people   annotators, the most suspect first, and whom they favour
settled  what the votes settle, and what they leave open
=======  ========================================================================
"""
