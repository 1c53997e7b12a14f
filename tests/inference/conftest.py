import pytest

from bayes_arena.likelihood.algebra.sparse import hessian
from bayes_arena.likelihood.algebra.sparse.solving import variances


@pytest.fixture
def sparse(monkeypatch):
    """Take the route of many competitors."""
    monkeypatch.setattr(hessian, "FULL", 2.0)
    monkeypatch.setattr(variances, "CHEAP", 1)
    return lambda many: monkeypatch.setattr(hessian, "MANY", 2 if many else 10**9)
