"""Every constant of the engine, with what it means."""

# Chunks.  A chunk of rows fits a processor's cache.
ROWS_PER_CHUNK = 8_192
GROUPS_PER_CHUNK = 2_048

# Posterior mode (mode.py).
MODE_TOLERANCE = 1e-9  # largest change of a parameter at convergence
MAX_NEWTON_STEPS = 100
NEAR_MODE = 0.5  # after a step shorter than this, the complete Hessian is tried
ARMIJO = 1e-4  # share of the predicted decrease that a step has to reach
ROUNDING = 1e-12  # relative error of the loss
SHORTEST_STEP = 1e-8  # smallest fraction of a Newton step in the line search

# Maximum likelihood of am-ELO (maximum.py).
RIDGE_SD = 10.0  # prior sd of a free theta, which only fixes the scale on the way
NO_MEAN = 1e-6  # a mean of theta, relative to its size, that gives no direction

# Two directions of a ranking (direction.py).
MANY_REVERSED = 0.25  # share of votes of negative theta from which both are tried
NEAR_TIE = 4.6  # nats between them below which the direction is open: 1 in 100
ABOUT_HALF = (
    0.45  # share of votes, or annotators, of negative theta from which it is, too
)

# Nearest Gaussian (gaussian.py).
SWEEP_TOLERANCE = 0.01  # largest change at convergence, in standard deviations
MIN_SWEEPS, MAX_SWEEPS = 4, 200
WARM_UP_STEPS = 2  # Newton steps towards the mode before the first sweep
LONGEST_STEP = 1.5  # largest change of a parameter in a sweep
MIN_DAMPING = 0.1
RECOVERY = 1.5  # by which the damping rises after a sweep that does not turn back
REVERSAL = 0.1  # a step turns back if it undoes this share of the previous one
LEVEL_TOLERANCE = 5.0  # how much looser the tolerance is for annotators and slices

# Spreads (spreads.py), in logits.
SMALLEST_SPREAD = 0.01
BOUND_MARGIN = 1.01  # a spread below this multiple of the smallest is at the bound
LONGEST_LOG_STEP = 0.6  # largest change of the logarithm of a spread in a sweep

# Averages over a Gaussian (quadrature.py).
NODES_OF_ONE = 15  # nodes for one variable

# Average vote and Elo scale (average_vote.py, scale.py).
MAX_TYPES = 64  # types of annotators
CURVE_POINTS = 129  # leads at which the average vote is evaluated
SLICE_NODES = 9  # quadrature nodes for the effects of a new slice
MAX_PROJECTION_STEPS = 100
LONGEST_PROJECTION_STEP = 2.0
PROJECTION_TOLERANCE = 1e-10

# A variance or a length that stands for zero in a denominator or a root.
TINY = 1e-12
