"""The only list of public names, and where they are defined."""

from . import (
    errors as errors,
    models as models,
    paper as paper,
    plots as plots,
)
from .arena.stable_arena import StableArena as StableArena
from .boards.effects import effects as effects
from .boards.elo import EloScale as EloScale
from .boards.leaderboard import leaderboard as leaderboard, leaderboards as leaderboards
from .boards.next_pairs import next_pairs as next_pairs
from .boards.online import (
    bootstrapped_elo as bootstrapped_elo,
    elo_by_annotator as elo_by_annotator,
    online_elo as online_elo,
    reversed_elo as reversed_elo,
    shuffled_elo as shuffled_elo,
)
from .boards.pairs import pairs as pairs
from .boards.probabilities import win_probability as win_probability
from .boards.ranks import rank_probabilities as rank_probabilities
from .boards.slices import slice_gaps as slice_gaps
from .boards.strengths import strengths as strengths
from .boards.verdict import verdict as verdict
from .checks.compare import compare as compare
from .checks.diagnose import diagnose as diagnose
from .checks.held_out import held_out as held_out
from .checks.loo import leave_one_out as leave_one_out
from .checks.predict import predict as predict
from .checks.predictive import (
    predictive_check as predictive_check,
    prior_check as prior_check,
)
from .errors import ArenaError as ArenaError
from .fits.draws import draw as draw
from .fits.fit import fit as fit
from .fits.many import fit_many as fit_many
from .fits.own_draws import from_posterior as from_posterior
from .fits.result import Fit as Fit
from .fits.save import load as load, save as save
from .fits.tree import to_datatree as to_datatree
from .model.priors import Prior as Prior
from .model.spec import Model as Model
from .people.annotators import annotators as annotators
from .people.contested import contested as contested
from .people.favourites import favourites as favourites
from .people.flag import flag as flag, flag_by_theta as flag_by_theta
from .people.groups import groups as groups
from .people.judges import judge_report as judge_report
from .people.shared import shared_ranking as shared_ranking
from .rating.rating import rate as rate
from .rating.report import report as report
from .reading.check import check as check
from .reading.read import read_votes as read_votes
from .reading.sequence import read_sequence as read_sequence
from .reading.style import style_features as style_features
from .simulation import example_arena as example_arena, simulate as simulate
from .votes.merge import merge as merge
from .votes.votes import Votes as Votes

__version__: str
