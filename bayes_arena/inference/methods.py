"""The routes from votes to a result; the command line reads their names without NumPy.

============  ============================================================================================
``map``       the posterior mode at the spreads of the prior; under a flat one the maximum of the likelihood
``marginal``  the same with spreads estimated from the votes, parameters integrated out
``nuts``      the whole posterior, sampled
============  ============================================================================================
"""

from typing import Literal

Method = Literal["map", "marginal", "nuts"]
