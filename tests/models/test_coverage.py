"""Tests that every operation that promises the same bits on all CPU backends (`reproducible` in its contract) has a
NumPy model, or a reference that gives these bits."""

from pathlib import Path

import pytest
from generator.schema import Bound
from tested import CONTRACTS, HOSTS

from tests.models import elementwise, random_numbers, reductions, rows
from tests.models.comparison import BY_NAME, MODELS

REPRODUCIBLE = [each for each in CONTRACTS if each.reproducible and not each.internal]


def is_exact(contract):
    """Returns whether the contract tolerates no error on CPUs: results must be those of its reference, rounded once."""
    tolerances = [each.tolerance for each in contract.accuracies.values()]
    bounds = [bound for each in tolerances for bound in (each.bound, *(each.of(backend.value) for backend in HOSTS))]
    return bool(contract.reference) and all(bound == Bound(why=bound.why) for bound in bounds)


@pytest.mark.parametrize("contract", REPRODUCIBLE, ids=[each.operation for each in REPRODUCIBLE])
def test_reproducible_operations_have_an_exact_reference_or_a_model(contract):
    assert is_exact(contract) or contract.operation in MODELS, (
        f"{contract.operation}: its reference is not exact; expected a model in tests/models"
    )


def test_models_are_of_reproducible_operations():
    assert [name for name in MODELS if not BY_NAME[name].reproducible] == []


def test_every_model_is_compared():
    """For each model, a test names the operation, or is parametrized by a dictionary that has the model."""
    dictionaries = (elementwise.MODELS, random_numbers.MODELS, reductions.ALONG_AXES, rows.MODELS)
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    named = [name for name in MODELS if f'"{name}"' in tests or any(name in each for each in dictionaries)]
    assert named == list(MODELS)
