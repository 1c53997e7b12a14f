"""Pages of one day."""

import pytest

DATE = "2026-11-28"


@pytest.fixture(scope="package", autouse=True)
def one_day():
    """Make all pages on the same day, so that the same votes give the same page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1795824000")
        yield
