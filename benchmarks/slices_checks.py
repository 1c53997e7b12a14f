"""Where there is nothing to find, do slices find nothing? Simulated and real votes.

    uv run python benchmarks/slices_checks.py [--arenas 30]

s_u = 0: answers are modelled in arenas where there are none (size of ``slices_coverage.py``); their spread should come
out below 0.15, and strengths within 0.01 of am-davidson's. One vote per prompt: answers that are asked for are refused,
and the default fit is am-davidson's bit for bit. Permuted codes: the prompts of LLMFAO's votes are shuffled, then votes
are left out as in ``slices_heldout.py``; nothing should be gained.
"""

import argparse
import warnings
from dataclasses import replace

import numpy as np
from slices_boards import simulate
from slices_coverage import ANSWERS, BASE, SMALL
from slices_heldout import TEST, read, score, split_votes

import bayes_arena as ba
from bayes_arena.votes.names import PROMPT


def no_answers(arenas: int) -> None:
    """Print what is found in arenas without answers, by default and where answers are asked for."""
    spreads, moves, left_out = [], [], 0
    for seed in range(arenas):
        cells = simulate(30_000 + seed, **SMALL, answer_sd=0.0).cells
        fit, base = ba.fit(cells, model=replace(ANSWERS, ties_by=())), ba.fit(cells, model=BASE)
        spreads.append(fit.spreads.spread("strength_by_prompt"))
        moves.append(np.abs(fit.strength - base.strength).max())
        left_out += PROMPT not in ba.fit(cells).model.strength_by
    print(
        f"s_u = 0, {arenas} arenas: spread of answers {np.mean(spreads):.3f}, largest {np.max(spreads):.3f}, ", end=""
    )
    print(f"below 0.15 in {np.mean(np.array(spreads) < 0.15):.0%}; largest change of a strength: mean ", end="")
    print(f"{np.mean(moves):.4f}, largest {np.max(moves):.4f} logits; left out by default in {left_out}")


def one_vote_a_prompt() -> None:
    """Print whether answers that cannot be told from noise are refused, and whether the default is am-davidson's."""
    cells = simulate(1, competitors=8, prompts=100_000, annotators=20, votes=1800).cells
    own = np.arange(len(cells.a))
    cells = cells.take(slice(None), slices={PROMPT: own}, slice_names={PROMPT: tuple(map(str, own.tolist()))})
    try:
        ba.fit(cells, answers=True)
        print("one vote per prompt: NOT refused")
    except ba.NotIdentifiedError as error:
        print(f"one vote per prompt, answers=True: {error}")
    default, base = ba.fit(cells), ba.fit(cells.take(slice(None), slices={}, slice_names={}))
    same = np.array_equal(default.strength, base.strength) and np.array_equal(default.point.own, base.point.own)
    print(f"one vote per prompt, by default: {default.model.name}, the same numbers bit for bit: {same}")


def permuted(splits: int) -> None:
    """Print what shuffled prompts gain on LLMFAO."""
    cells = read("llmfao.csv", PROMPT)
    shuffled = np.random.default_rng(0).permutation(cells.slices[PROMPT])
    cells = cells.take(slice(None), slices={PROMPT: shuffled})
    for name, model in (("answers", replace(ANSWERS, ties_by=())), ("answers + tie per prompt", ANSWERS)):
        gains = []
        for train, left_out in split_votes(cells, splits=splits, test=TEST, seed=0):
            pair = []
            for one in (model, BASE):
                values, votes = score(ba.fit(train, model=one), left_out)
                pair.append((values[0] * votes).sum() / votes.sum())
            gains.append(pair[0] - pair[1])
        error = np.std(gains, ddof=1) * np.sqrt(1 / splits + TEST / (1 - TEST))
        spreads = ba.fit(cells, model=model).spreads.by
        found = ", ".join(f"{key} {value:.3f}" for key, value in spreads.items())
        print(f"permuted prompts, LLMFAO, {name}: gain {np.mean(gains):+.4f} ({error:.4f}) nats a vote; {found}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arenas", type=int, default=30)
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    no_answers(options.arenas)
    one_vote_a_prompt()
    permuted(options.splits)


if __name__ == "__main__":
    main()
