"""The public names, and where they live: the one list of them."""

from .arena.stable_arena import StableArena as StableArena
from .arena.stored_rounds import Round as Round
from .arena.stored_votes import Addition as Addition
from .errors import (
    AccessError as AccessError,
)
from .errors import (
    ArenaError as ArenaError,
)
from .errors import (
    ArenaWarning as ArenaWarning,
)
from .errors import (
    ColumnError as ColumnError,
)
from .errors import (
    CompilerError as CompilerError,
)
from .errors import (
    ConvergenceError as ConvergenceError,
)
from .errors import (
    DatasetError as DatasetError,
)
from .errors import (
    DroppedVotesWarning as DroppedVotesWarning,
)
from .errors import (
    FitError as FitError,
)
from .errors import (
    IdentificationWarning as IdentificationWarning,
)
from .errors import (
    InvalidVotesError as InvalidVotesError,
)
from .errors import (
    ModelError as ModelError,
)
from .errors import (
    NoMaximumWarning as NoMaximumWarning,
)
from .errors import (
    NotIdentifiedError as NotIdentifiedError,
)
from .errors import (
    NoVotesError as NoVotesError,
)
from .errors import (
    OutputError as OutputError,
)
from .errors import (
    RepeatedVotesWarning as RepeatedVotesWarning,
)
from .errors import (
    StoreError as StoreError,
)
from .errors import (
    TooLargeError as TooLargeError,
)
from .errors import (
    UnusedColumnWarning as UnusedColumnWarning,
)
from .errors import (
    VotesError as VotesError,
)
from .fits.draws import draw as draw
from .fits.fitting import fit as fit
from .fits.posterior import from_posterior as from_posterior
from .fits.result import (
    Draws as Draws,
)
from .fits.result import (
    Fit as Fit,
)
from .fits.saved.storage import (
    load as load,
)
from .fits.saved.storage import (
    save as save,
)
from .fits.tree import to_datatree as to_datatree
from .likelihood.priors import (
    Prior as Prior,
)
from .likelihood.priors import (
    Spreads as Spreads,
)
from .likelihood.simulation import (
    Arena as Arena,
)
from .likelihood.simulation import (
    example_arena as example_arena,
)
from .likelihood.simulation import (
    simulate as simulate,
)
from .likelihood.specification import Model as Model
from .ratings.elo import EloScale as EloScale
from .ratings.estimates import (
    contrasts as contrasts,
)
from .ratings.estimates import (
    effects as effects,
)
from .ratings.estimates import (
    strengths as strengths,
)
from .ratings.intervals.bootstrap import Bootstrap as Bootstrap
from .ratings.intervals.contract import Interval as Interval
from .ratings.intervals.laplace import Laplace as Laplace
from .ratings.intervals.profile import Profile as Profile
from .ratings.intervals.robust import (
    Clustered as Clustered,
)
from .ratings.intervals.robust import (
    Sandwich as Sandwich,
)
from .ratings.leaderboard import (
    leaderboard as leaderboard,
)
from .ratings.leaderboard import (
    rank_spread as rank_spread,
)
from .ratings.online import (
    elo_by_annotator as elo_by_annotator,
)
from .ratings.online import (
    online_elo as online_elo,
)
from .ratings.online import (
    reversed_elo as reversed_elo,
)
from .ratings.random_orders import (
    bootstrapped_elo as bootstrapped_elo,
)
from .ratings.random_orders import (
    shuffled_elo as shuffled_elo,
)
from .ratings.standing import (
    head_to_head as head_to_head,
)
from .ratings.standing import (
    rank_probabilities as rank_probabilities,
)
from .ratings.standing import (
    unsettled_pairs as unsettled_pairs,
)
from .ratings.standing import (
    win_probability as win_probability,
)
from .reliability.annotators import annotators as annotators
from .reliability.flagging import (
    flag as flag,
)
from .reliability.flagging import (
    flag_by_theta as flag_by_theta,
)
from .validation.comparison import compare as compare
from .validation.diagnostics import diagnose as diagnose
from .validation.heldout import held_out as held_out
from .validation.kfold import kfold_annotators as kfold_annotators
from .validation.leave_one_out import (
    LeaveOneOut as LeaveOneOut,
)
from .validation.leave_one_out import (
    leave_one_out as leave_one_out,
)
from .validation.prediction import Ratings as Ratings
from .validation.predictive import (
    predictive_check as predictive_check,
)
from .validation.predictive import (
    replicate as replicate,
)
from .validation.prior_check import prior_check as prior_check
from .votes.cells import Cells as Cells
from .votes.reading.checks import check as check
from .votes.reading.hub import hub_files as hub_files
from .votes.reading.sequence import (
    VoteSequence as VoteSequence,
)
from .votes.reading.sequence import (
    read_sequence as read_sequence,
)
from .votes.reading.table import read_votes as read_votes
from .votes.selection import (
    drop_annotators as drop_annotators,
)
from .votes.selection import (
    keep_annotators as keep_annotators,
)

__version__: str
