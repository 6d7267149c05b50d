"""Tests sin, cos and tan of large angles close to multiples of pi/2, whose results depend on most bits of 2/pi."""

import hard_angles
import numpy as np
import pytest

import lanewise as lw


@pytest.mark.contracts(lambda contract: contract.operation in hard_angles.OPERATIONS)
def test_hard_angles(contract, backend):
    x, _ = hard_angles.angles()
    got = np.asarray(getattr(lw, contract.operation)(x))
    assert not hard_angles.complaint(contract.operation, got, contract.accuracy("float32").tolerance.of(str(backend)))
