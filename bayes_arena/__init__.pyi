"""The only list of public names, and where they are defined."""

from . import plots as plots
from .arena.rounds import Round as Round
from .arena.stable_arena import StableArena as StableArena
from .arena.votes import Addition as Addition
from .decisions.flips import (
    flip_votes as flip_votes,
    flips as flips,
)
from .decisions.integrity import integrity as integrity, promoters as promoters
from .decisions.next_pairs import next_pairs as next_pairs
from .decisions.price import price as price
from .decisions.siblings import siblings as siblings
from .decisions.verdict import Verdict as Verdict, verdict as verdict
from .decisions.versus import (
    Versus as Versus,
    versus as versus,
)
from .errors import (
    AccessError as AccessError,
    ArenaError as ArenaError,
    ArenaWarning as ArenaWarning,
    AverageWarning as AverageWarning,
    ChangedStrengthsWarning as ChangedStrengthsWarning,
    ColumnError as ColumnError,
    CompilerError as CompilerError,
    ConvergenceError as ConvergenceError,
    DatasetError as DatasetError,
    DependentVotesWarning as DependentVotesWarning,
    DiscountedVotesWarning as DiscountedVotesWarning,
    DroppedVotesWarning as DroppedVotesWarning,
    FailedBoardsWarning as FailedBoardsWarning,
    FitError as FitError,
    ForkError as ForkError,
    IdentificationWarning as IdentificationWarning,
    InvalidVotesError as InvalidVotesError,
    LayoutWarning as LayoutWarning,
    LeftOutEffectWarning as LeftOutEffectWarning,
    MissingPackageError as MissingPackageError,
    ModelError as ModelError,
    NoMaximumWarning as NoMaximumWarning,
    NotIdentifiedError as NotIdentifiedError,
    NoVotesError as NoVotesError,
    OutputError as OutputError,
    PromptsWarning as PromptsWarning,
    RepeatedVotesWarning as RepeatedVotesWarning,
    SampledVotesWarning as SampledVotesWarning,
    StoreError as StoreError,
    TooLargeError as TooLargeError,
    UnusedColumnWarning as UnusedColumnWarning,
    VotesError as VotesError,
)
from .fits.draws import Draws as Draws
from .fits.fitting import fit as fit
from .fits.many import (
    Boards as Boards,
    fit_many as fit_many,
)
from .fits.plan import (
    Choice as Choice,
    Plan as Plan,
    choose as choose,
)
from .fits.posterior import from_posterior as from_posterior
from .fits.posterior_draws import draw as draw
from .fits.result import Fit as Fit
from .fits.saved.storage import (
    load as load,
    save as save,
)
from .fits.tree import to_datatree as to_datatree
from .likelihood.priors import (
    Prior as Prior,
    Spreads as Spreads,
)
from .likelihood.simulation import (
    Arena as Arena,
    example_arena as example_arena,
    simulate as simulate,
)
from .likelihood.specification import Model as Model
from .page.report import (
    Report as Report,
    report as report,
)
from .promotion.promotions import Promoters as Promoters, Promotions as Promotions
from .ratings.elo import EloScale as EloScale
from .ratings.estimates import (
    contrasts as contrasts,
    effects as effects,
    strengths as strengths,
)
from .ratings.grades import grades as grades
from .ratings.groups import (
    best_by_group as best_by_group,
    disagreement as disagreement,
    slice_similarity as slice_similarity,
)
from .ratings.history import (
    changes as changes,
    history as history,
)
from .ratings.intervals.bootstrap import Bootstrap as Bootstrap
from .ratings.intervals.clustered import Clustered as Clustered
from .ratings.intervals.contract import Interval as Interval
from .ratings.intervals.laplace import Laplace as Laplace
from .ratings.intervals.profile import Profile as Profile
from .ratings.intervals.robust import Sandwich as Sandwich
from .ratings.leaderboard import (
    leaderboard as leaderboard,
    leaderboards as leaderboards,
)
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
    unsettled_pairs as unsettled_pairs,
    win_probability as win_probability,
)
from .ratings.slices import (
    answers as answers,
    slice_gaps as slice_gaps,
)
from .ratings.style import style_effects as style_effects
from .reliability.annotators import annotators as annotators
from .reliability.bursts import bursts as bursts
from .reliability.camps import Camps as Camps, camps as camps
from .reliability.flagging import (
    flag as flag,
    flag_by_theta as flag_by_theta,
)
from .reliability.judges import JudgeReport as JudgeReport, judge_report as judge_report
from .validation.comparison import compare as compare
from .validation.cross_validation import held_out as held_out, kfold as kfold
from .validation.diagnostics import diagnose as diagnose
from .validation.leave_one_out import (
    LeaveOneOut as LeaveOneOut,
    leave_one_out as leave_one_out,
)
from .validation.prediction import Ratings as Ratings
from .validation.predictive import (
    predictive_check as predictive_check,
    replicate as replicate,
)
from .validation.prior_check import prior_check as prior_check
from .votes.cells import Cells as Cells
from .votes.merging import merge as merge
from .votes.parquet import read_cells as read_cells
from .votes.reading.checks import check as check
from .votes.reading.read_votes import (
    read_sequence as read_sequence,
    read_votes as read_votes,
)
from .votes.reading.style_features import style_features as style_features
from .votes.selection import (
    drop_annotators as drop_annotators,
    keep_annotators as keep_annotators,
)
from .votes.sequence import VoteSequence as VoteSequence
from .votes.sources.hub import hub_files as hub_files
from .votes.splitting import split as split

__version__: str
