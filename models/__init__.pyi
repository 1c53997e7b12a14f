from . import (
    am_davidson as am_davidson,
    am_elo as am_elo,
    any_model as any_model,
    bradley_terry as bradley_terry,
    davidson as davidson,
    m_elo as m_elo,
)
from .parts import (
    Prior as Prior,
    Spread as Spread,
    normal as normal,
    observe as observe,
    shared as shared,
    zero_sum as zero_sum,
)
from .rows import Data as Data, data as data
