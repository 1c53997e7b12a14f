import re
import xml.etree.ElementTree as tree

import numpy as np
import pytest

from bayes_arena.page import figures
from bayes_arena.page.figures import Axis
from bayes_arena.palette import (
    DARK,
    LIGHT,
    css_variables,
    probability_shades,
    score_shades,
)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 100, (0, 20, 40, 60, 80, 100)),
        (747, 1205, (800, 900, 1000, 1100, 1200)),
        (-0.2, 1, (-0.2, 0, 0.2, 0.4, 0.6, 0.8, 1)),
        (1000, 1000, (999, 999.5, 1000, 1000.5, 1001)),
    ],
)
def test_axes_have_few_round_numbers(low, high, ticks):
    axis = Axis.around(low, high, most_ticks=7)
    assert axis.low < low <= high < axis.high
    assert axis.ticks == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("first", "last", "ticks"),
    [(1, 4, (1, 2, 3, 4)), (1, 30, (1, 5, 10, 15, 20, 25, 30)), (7, 7, (7,))],
)
def test_ranks_stand_in_the_middle_of_their_cells(first, last, ticks):
    axis = Axis.of_ranks(first, last)
    assert axis.ticks == ticks
    assert axis.share(first) == pytest.approx(0.5 / (last - first + 1))


def test_attributes_are_escaped():
    drawn = figures.element("svg", aria_label='"><script>')
    assert drawn == '<svg aria-label="&#34;&gt;&lt;script&gt;"></svg>'


def test_figures_are_xml():
    score = np.array([[0.5, 0.7, 0.99], [0.3, 0.5, 0.8], [0.01, 0.2, 0.5]])
    groups = {
        "predicted": np.array([0.55, 0.8]),
        "observed": np.array([0.7, 0.8]),
        "lower": np.array([0.5, 0.75]),
        "upper": np.array([0.6, 0.85]),
    }
    axis = Axis.around(0, 100)
    drawn = [
        figures.bar(axis, 10, 20, 30),
        figures.shifts(axis, [40.0], [97.0]),
        figures.square(score_shades(score), "All & others"),
        figures.heat_rows(probability_shades(score), score, 0, 3),
        axis.labels(),
    ]
    for svg in drawn:
        tree.fromstring(svg)
    against = figures.observed_figure(groups, "Observed")
    assert (against.count('"outside"'), against.count('"dot"')) == (1, 1)


def test_shades_say_who_wins():
    score = np.array([0.5, 0.505, 0.6, 0.95, 0.4, 0.05])
    assert score_shades(score).tolist() == [0, 0, 2, 5, -2, -5]
    assert probability_shades(np.array([0, 0.01, 0.2, 1])).tolist() == [0, 1, 3, 5]
    assert [figures.shade_class(shade) for shade in (2, -2, 0)] == ["w2", "l2", ""]


def test_runs_of_a_shade_are_one_shape():
    (path,) = figures.shaded_paths(np.array([[1, 1, 0, 1], [0, 0, 0, 0]]))
    assert re.search('d="([^"]*)"', path)[1] == "M0 0h2v1h-2M3 0h1v1h-1"


def test_every_colour_has_a_light_and_a_dark_side():
    assert LIGHT.keys() == DARK.keys()
    assert css_variables({"ink": "#000"}) == ":root { --ink: #000; }"


def test_lines_of_a_grid_are_within_the_figure():
    axis = Axis.around(0, 100)
    grid = tree.fromstring(
        f"<svg>{figures.horizontal_grid(axis)}</svg>".replace("&nbsp;", " ")
    )
    heights = [float(line.get("y1").rstrip("%")) for line in grid.iter("line")]
    assert heights == pytest.approx(
        [100 * (1 - axis.share(x)) for x in axis.ticks], abs=0.01
    )
