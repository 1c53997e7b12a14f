import numpy as np

from bayes_arena.arrays import positions_of


def test_keys_that_are_not_there_have_no_position():
    wanted = np.array([7, 3, 4, 0, 9])
    assert positions_of(np.array([3, 7, 8]), wanted).tolist() == [1, 0, -1, -1, -1]
