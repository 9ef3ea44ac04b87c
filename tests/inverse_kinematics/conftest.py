"""What the tests of inverse kinematics share."""

import numpy as np
import pytest

import chainrule as cr


@pytest.fixture(scope="module")
def panda():
    return cr.load("panda")


@pytest.fixture
def rng():
    return np.random.default_rng(7)
