"""Tests sin, cos and tan of large angles close to multiples of pi/2, whose results depend on all bits of 2/pi."""

import hard_angles
import numpy as np
import pytest
from judge import near

import lanewise as lw


@pytest.mark.contracts(lambda contract: contract.operation in hard_angles.OPERATIONS)
def test_hard_angles(contract, backend):
    x, results = hard_angles.angles()
    expected = results[contract.operation]
    got = np.asarray(getattr(lw, contract.operation)(x))
    wrong = ~near(got, expected, contract.tolerance.of(str(backend)), None, strict=True)
    assert not wrong.any(), f"{wrong.sum()} wrong: {x[wrong][0]!r} gives {got[wrong][0]!r}, {expected[wrong][0]!r}"
