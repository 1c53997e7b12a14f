"""The only list of public names, and where they are defined."""

from . import errors as errors, plots as plots
from .arena.stable_arena import StableArena as StableArena
from .decisions.flips import flip_votes as flip_votes, flips as flips
from .decisions.integrity import integrity as integrity, promoters as promoters
from .decisions.next_pairs import next_pairs as next_pairs
from .decisions.price import price as price
from .decisions.siblings import siblings as siblings
from .decisions.verdict import verdict as verdict
from .decisions.versus import pairs as pairs, versus as versus
from .errors import (
    ArenaError as ArenaError,
    ArenaWarning as ArenaWarning,
    AverageWarning as AverageWarning,
    ChangedStrengthsWarning as ChangedStrengthsWarning,
    DependentVotesWarning as DependentVotesWarning,
    DiscountedVotesWarning as DiscountedVotesWarning,
    FitError as FitError,
    ModelError as ModelError,
    VotesError as VotesError,
)
from .fits.fitting import fit as fit
from .fits.many import fit_many as fit_many
from .fits.plan import choose as choose
from .fits.posterior import from_posterior as from_posterior
from .fits.posterior_draws import draw as draw
from .fits.result import Fit as Fit
from .fits.saved.storage import load as load, save as save
from .fits.tree import to_datatree as to_datatree
from .likelihood.priors import Prior as Prior
from .likelihood.simulation import Arena as Arena, example_arena as example_arena, simulate as simulate
from .likelihood.specification import Model as Model
from .page.report import report as report
from .ratings.elo import EloScale as EloScale
from .ratings.estimates import (
    contrasts as contrasts,
    effects as effects,
    strengths as strengths,
    style_effects as style_effects,
)
from .ratings.grades import grades as grades
from .ratings.groups import (
    best_by_group as best_by_group,
    disagreement as disagreement,
    slice_similarity as slice_similarity,
)
from .ratings.history import changes as changes, history as history
from .ratings.intervals.bootstrap import Bootstrap as Bootstrap
from .ratings.intervals.clustered import Clustered as Clustered
from .ratings.leaderboard import leaderboard as leaderboard, leaderboards as leaderboards
from .ratings.online import (
    bootstrapped_elo as bootstrapped_elo,
    elo_by_annotator as elo_by_annotator,
    online_elo as online_elo,
    reversed_elo as reversed_elo,
    shuffled_elo as shuffled_elo,
)
from .ratings.probabilities import (
    head_to_head as head_to_head,
    rank_probabilities as rank_probabilities,
    win_probability as win_probability,
)
from .ratings.slices import answers as answers, slice_gaps as slice_gaps
from .reliability.annotators import annotators as annotators
from .reliability.bursts import bursts as bursts
from .reliability.camps import camps as camps
from .reliability.flagging import flag as flag, flag_by_theta as flag_by_theta
from .reliability.judges import judge_report as judge_report
from .validation.comparison import compare as compare
from .validation.cross_validation import held_out as held_out, kfold as kfold
from .validation.diagnostics import diagnose as diagnose
from .validation.leave_one_out import leave_one_out as leave_one_out
from .validation.prediction import predict as predict
from .validation.predictive import (
    predictive_check as predictive_check,
    prior_check as prior_check,
    replicate as replicate,
)
from .votes.cells import Cells as Cells
from .votes.parquet import read_cells as read_cells
from .votes.reading.checks import check as check
from .votes.reading.read_votes import read_sequence as read_sequence, read_votes as read_votes
from .votes.reading.style_features import style_features as style_features
from .votes.selection import drop_annotators as drop_annotators, keep_annotators as keep_annotators, split as split
from .votes.summing import merge as merge

__version__: str
