import pytest

from tests.reading.fuzz import fuzz

CALLS = 200  # 5,000 by: python -c "from tests.reading.fuzz import fuzz; print(fuzz(5_000, 0))"


@pytest.mark.slow
def test_only_typed_errors_are_raised():
    n_read, faults = fuzz(CALLS, seed=0)
    assert faults == []
    assert n_read > CALLS / 10
